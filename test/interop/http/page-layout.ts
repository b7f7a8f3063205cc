/**
 * What a page looks like to people who do not see well, measured in the browser (WCAG 2.2): these
 * functions are sent there and run there, so that each stands for itself.
 */

/** The little of the DOM that is looked at; its whole library would be known to all of our files. */
type PageElement = {
  textContent: string | null
  parentElement: PageElement | null
  childNodes: Iterable<{ nodeType: number; textContent: string | null }>
  getBoundingClientRect(): { width: number; height: number; right: number }
}
declare const document: {
  documentElement: { clientWidth: number; scrollWidth: number; style: { fontSize: string } }
  body: PageElement & { querySelectorAll(selector: string): Iterable<PageElement> }
  activeElement: PageElement | null
}
declare function getComputedStyle(element: PageElement): {
  color: string
  backgroundColor: string
  outlineStyle: string
  outlineWidth: string
}

/** The lowest contrast of any text with what is behind it, and where (1.4.3). */
export function lowestContrast(): { ratio: number; text: string } {
  const channels = (color: string) => (color.match(/[\d.]+/g) ?? []).map(Number)
  const luminance = (color: string) => {
    const [red = 0, green = 0, blue = 0] = channels(color).map((value) => {
      const share = value / 255
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
    })
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
  }
  const backgroundOf = (element: PageElement | null): string => {
    if (element === null) return 'rgb(255, 255, 255)'
    const color = getComputedStyle(element).backgroundColor
    return channels(color)[3] === 0 ? backgroundOf(element.parentElement) : color
  }
  let lowest = { ratio: 21, text: '' }
  for (const element of document.body.querySelectorAll('*')) {
    const own = [...element.childNodes].filter(({ nodeType }) => nodeType === 3)
    const text = own.map(({ textContent }) => textContent?.trim()).join('')
    if (text === '') continue
    const pair = [getComputedStyle(element).color, backgroundOf(element)].map(luminance)
    const [dark = 0, light = 1] = pair.sort((one, other) => one - other)
    const ratio = (light + 0.05) / (dark + 0.05)
    if (ratio < lowest.ratio) lowest = { ratio, text }
  }
  return lowest
}

/** What is pressed but smaller than 44 by 44 pixels (2.5.5). */
export function smallTargets(): string[] {
  return [...document.body.querySelectorAll('a, button')].flatMap((element) => {
    const { width, height } = element.getBoundingClientRect()
    return width >= 44 && height >= 44 ? [] : [`${element.textContent} ${width}x${height}`]
  })
}

/** Pixels by which the page, or anything in it, is wider than the window (1.4.10). */
export function overflow(): number {
  const { clientWidth, scrollWidth } = document.documentElement
  const edges = [...document.body.querySelectorAll('*')].map(
    (element) => element.getBoundingClientRect().right,
  )
  return Math.max(0, scrollWidth - clientWidth, ...edges.map((edge) => edge - clientWidth))
}

/** Letters twice as large (1.4.4). */
export function enlargeLetters(): void {
  document.documentElement.style.fontSize = '200%'
}

/** The element with the focus, and how its focus is shown (2.4.7). */
export function focused(): { text: string; outline: string } {
  const element = document.activeElement ?? document.body
  const { outlineStyle, outlineWidth } = getComputedStyle(element)
  return { text: element.textContent ?? '', outline: `${outlineWidth} ${outlineStyle}` }
}
