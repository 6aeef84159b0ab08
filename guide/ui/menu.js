// On a phone the list of pages lies over the page: whoever has chosen one wants to see it.
const NARROW = "(max-width: 768px)" // below this Streamlit lays the list over the page

// When the server is gone, Streamlit speaks to the programmer of a page; those who work with it are told in their words.
const GONE = "The dashboard was stopped or cannot be reached. Once it is started again (make dashboard), this page goes on."

function tellPlainly() {
  for (const dialog of document.querySelectorAll('[role="dialog"]')) {
    const texts = document.createTreeWalker(dialog, NodeFilter.SHOW_TEXT)
    while (texts.nextNode()) if (/Is Streamlit still running|Streamlit server is not/.test(texts.currentNode.data)) texts.currentNode.data = GONE
    const code = [...dialog.querySelectorAll("pre")].find((one) => one.textContent.includes("yourscript.py"))
    if (code) (code.closest('[data-testid="stCode"]') || code).style.display = "none"
  }
}

export default function ({ data }) {
  if (!window.guidePlain) (window.guidePlain = new MutationObserver(tellPlainly)).observe(document.body, { childList: true, subtree: true })
  if (!data || data.page === window.guidePage) return
  const isFirst = window.guidePage === undefined
  window.guidePage = data.page
  const open = document.querySelector('[data-testid="stSidebar"][data-collapsed="false"]')
  const button = open && open.querySelector('[data-testid="stSidebarCollapseButton"] button')
  if (button && !isFirst && matchMedia(NARROW).matches) button.click()
}
