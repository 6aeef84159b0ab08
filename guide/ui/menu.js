// On a phone the list of pages lies over the page: whoever has chosen one wants to see it.
const NARROW = "(max-width: 768px)" // below this Streamlit lays the list over the page

export default function ({ data }) {
  if (!data || data.page === window.guidePage) return
  const isFirst = window.guidePage === undefined
  window.guidePage = data.page
  const open = document.querySelector('[data-testid="stSidebar"][data-collapsed="false"]')
  const button = open && open.querySelector('[data-testid="stSidebarCollapseButton"] button')
  if (button && !isFirst && matchMedia(NARROW).matches) button.click()
}
