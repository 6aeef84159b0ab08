// Keeps the pass that the dashboard handed out, so that a reload does not ask for the password again.
export default function ({ data }) {
  if (!data || !data.handed) return;
  const secure = location.protocol === "https:" ? "; Secure" : "";
  document.cookie = `guide_pass=${data.handed}; path=/; max-age=43200; SameSite=Strict${secure}`;
}
