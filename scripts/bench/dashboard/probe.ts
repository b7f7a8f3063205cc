/**
 * What the benchmark puts into each page before its scripts: `globalThis.probe`. It says when the page was whole, which is
 * when its heading is there and no part says that it loads (`aria-busy`), and it scrolls.
 */

/** Milliseconds since the page began to load, or since `begin`. */
export type Shown = {
  /** The sign-in form, or the heading of a screen other than the one before. */
  headingMs: number
  /** The first paint after the page was whole for good. */
  wholeMs: number
}

export type Scrolled = { framesMs: number[]; pixels: number; rows: number; mostRows: number }

/** A page that stays whole for this long is at rest. */
const QUIET_MS = 700
/** A page that loads no rows any more ends a scroll. */
const STUCK_MS = 30_000

export const PROBE = `(() => {
  let beganAt = 0, headingAt, wholeAt, isWhole = false, wasBusy = false
  let oldHeading, wanted
  const tasks = []
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) tasks.push(duration)
  }).observe({ type: 'longtask', buffered: true })

  const findHeading = () => {
    const found = document.querySelector('h1, form input[type=password]')
    return found === oldHeading ? null : found
  }
  const look = () => {
    const isThere = findHeading() !== null
    if (isThere) headingAt ??= performance.now()
    const isBusy = document.querySelector('[aria-busy=true]') !== null
    wasBusy ||= isBusy
    const isNow = isThere && !isBusy && (wanted === undefined || (wasBusy && location.href.includes(wanted)))
    if (isNow && !isWhole) {
      wholeAt = undefined
      requestAnimationFrame(() => setTimeout(() => { wholeAt = performance.now() }))
    }
    isWhole = isNow
  }
  new MutationObserver(look).observe(document, {
    subtree: true, childList: true, attributes: true, attributeFilter: ['aria-busy'],
  })
  const frame = () => new Promise((done) => requestAnimationFrame(done))

  globalThis.probe = {
    tasks,
    isQuiet: () => isWhole && wholeAt !== undefined && performance.now() - wholeAt > ${QUIET_MS},
    shown: () => ({ headingMs: headingAt - beganAt, wholeMs: wholeAt - beganAt }),
    /** From here on, another heading is awaited. */
    begin() {
      beganAt = performance.now()
      headingAt = wholeAt = wanted = undefined
      isWhole = wasBusy = false
      oldHeading = document.querySelector('h1')
    },
    /** From the next click on: to find and to reach what is clicked takes the browser's driver a while. */
    beginAtClick() {
      addEventListener('click', () => this.begin(), { capture: true, once: true })
    },
    /** Writes into the field as its last key does; from here on, the rows of that search are awaited. */
    search(text) {
      this.begin()
      oldHeading = undefined
      wanted = '?q=' + encodeURIComponent(text)
      const field = document.querySelector('input[type=search]')
      field.value = text
      field.dispatchEvent(new Event('input', { bubbles: true }))
    },
    async scroll(rows, stepPx) {
      const rowOf = () => document.querySelector('tr[data-row]')
      const body = rowOf().parentElement
      const height = rowOf().getBoundingClientRect().height
      const from = scrollY
      const framesMs = []
      let last = await frame(), movedAt = last, mostRows = 0
      while (scrollY - from < rows * height && last - movedAt < ${STUCK_MS}) {
        const before = scrollY
        scrollBy({ top: stepPx, behavior: 'instant' })
        const now = await frame()
        framesMs.push(now - last)
        if (scrollY > before) movedAt = now
        last = now
        mostRows = Math.max(mostRows, body.childElementCount - body.querySelectorAll('.gap').length)
      }
      return { framesMs, pixels: scrollY - from, rows: Math.floor((scrollY - from) / height), mostRows }
    },
  }
})()`
