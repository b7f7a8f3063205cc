/** What a reader of the page cannot read: words that are cut, and words that are not of the chosen language. */
import type { Page } from 'playwright-core'

/** Runs in the page. The pieces of text that are shown, with the element of each. */
const SHOWN = `
  const isShown = (one) => one.checkVisibility({ opacityProperty: true, visibilityProperty: true })
  const isData = (one) => one.closest('code, pre, kbd, time, [lang]:not(html), .mono, .sr, .stamp') !== null
  // What only screen readers get.
  const isHidden = (one) =>
    one !== null && (getComputedStyle(one).clipPath !== 'none' || isHidden(one.parentElement))
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  const shown = []
  while (walker.nextNode()) {
    const { parentElement: element, data } = walker.currentNode
    if (data.trim() !== '' && element !== null && isShown(element)) {
      shown.push({ element, node: walker.currentNode, text: data.trim() })
    }
  }
`

/**
 * Words of the interface whose element is narrower or lower than they are. An element that scrolls, or one that
 * says all in its title, cuts nothing.
 */
export function findCutWords(page: Page): Promise<string[]> {
  return page.evaluate(`(() => {
    ${SHOWN}
    const cut = []
    for (const { element, node, text } of shown) {
      if (isHidden(element)) continue
      const range = document.createRange()
      range.selectNodeContents(node)
      const box = range.getBoundingClientRect()
      for (let one = element; one !== null && one !== document.body; one = one.parentElement) {
        const { overflowX, overflowY, position } = getComputedStyle(one)
        if (one.title !== '' || [overflowX, overflowY].some((how) => how === 'auto' || how === 'scroll')) break
        const outer = one.getBoundingClientRect()
        const isCut =
          (overflowX !== 'visible' && (box.right > outer.right + 1 || box.left < outer.left - 1)) ||
          (overflowY !== 'visible' && (box.bottom > outer.bottom + 1 || box.top < outer.top - 1))
        const spills = ['BUTTON', 'LABEL', 'TH', 'SUMMARY'].includes(one.tagName) && box.right > outer.right + 1
        if (isCut || spills) { cut.push(text); break }
        if (position === 'fixed') break
      }
    }
    return [...new Set(cut)]
  })()`)
}

/**
 * Words that are not in the pseudo-language, besides those of `data` and of people and machines. The
 * pseudo-language has no plain vowel.
 */
export function findForeignWords(page: Page, data: readonly RegExp[]): Promise<string[]> {
  return page.evaluate(`(() => {
    ${SHOWN}
    const named = ['aria-label', 'placeholder', 'title', 'alt'].flatMap((name) =>
      [...document.querySelectorAll('[' + name + ']')].filter(isShown).map((element) => ({
        element, text: element.getAttribute(name),
      })),
    )
    const data = ${JSON.stringify(data.map(({ source }) => source))}.map((source) => new RegExp(source, 'gi'))
    return [...new Set([...shown, ...named]
      .filter(({ element }) => !isData(element))
      .map(({ text }) => data.reduce((rest, one) => rest.replace(one, ''), text))
      .filter((text) => /[aeiou]/i.test(text)))]
  })()`)
}
