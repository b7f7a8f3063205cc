/** Chromium with pages that the benchmark looks into: cold ones, slowed ones, and what their main thread did. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Browser, BrowserContext, CDPSession, Page, Request } from 'playwright-core'
import { findChromium, launchChromium } from '../../../test/interop/http/chromium.ts'
import { OWNER } from '../seeding/projects.ts'
import { PROBE, type Scrolled, type Shown } from './probe.ts'

/** What the budgets of the dashboard are for. */
export const THROTTLE = 4

/** Milliseconds of the main thread, by its own clock: other programs do not add to them. */
export type Work = { task: number; script: number; layout: number; style: number }

export type Visited = {
  page: Page
  /** Resolves once the page is whole and at rest. */
  shown(): Promise<Shown>
  /** Clicks on what leads to another screen. `shown` then counts from the click. */
  click(selector: string): Promise<void>
  /** Writes into the field of a list. `shown` then counts from its last key to the rows. */
  search(text: string): Promise<void>
  scroll(rows: number, stepPx: number): Promise<Scrolled>
  /** Of the page so far. */
  work(): Promise<Work>
  longestTaskMs(): Promise<number>
  /** Megabytes, once the garbage is collected. */
  heap(): Promise<number>
  close(): Promise<void>
}

type VisitOptions = {
  path: string
  /** Signed in; the default. */
  isKnown?: boolean
  /** With the throttled processor of the budgets. */
  isSlow?: boolean
  onRequest?(request: Request): void
  /** Its clock stands still, and is moved by `page.clock`. */
  hasOwnClock?: boolean
}

export type Visitor = {
  origin: string
  /** The id of the project that is visited. */
  project: string
  cookie: string
  /** A page of a browser that has loaded nothing yet. */
  visit(options: VisitOptions): Promise<Visited>
  close(): Promise<void>
}

type Storage = Awaited<ReturnType<BrowserContext['storageState']>>

const SHOWN_MS = 60_000
const POLL_MS = 50
const MB = 1024 * 1024

/**
 * Signs in on the page of the server.
 * @throws Error without a browser
 */
export async function startVisitor(origin: string, project: string): Promise<Visitor> {
  const program = findChromium()
  if (program === undefined) throw new Error('chromium is not installed')
  const browser = await launchChromium(program, ['--disable-background-networking'])
  const storage = await signIn(browser, origin, project)
  const [cookie] = storage.cookies.map(({ name, value }) => `${name}=${value}`)
  return {
    origin,
    project,
    cookie: cookie ?? '',
    async visit({ path, isKnown = true, isSlow = false, onRequest, hasOwnClock = false }) {
      const context = await newContext(browser, isKnown ? storage : undefined)
      const page = await context.newPage()
      if (onRequest !== undefined) page.on('request', onRequest)
      if (hasOwnClock) await page.clock.install()
      const session = await context.newCDPSession(page)
      await session.send('Performance.enable', { timeDomain: 'threadTicks' })
      if (isSlow) await session.send('Emulation.setCPUThrottlingRate', { rate: THROTTLE })
      await page.goto(new URL(path, origin).href, { waitUntil: 'commit' })
      return { ...look(page, session), close: () => context.close() }
    },
    close: () => browser.close(),
  }
}

async function newContext(browser: Browser, storageState?: Storage): Promise<BrowserContext> {
  const context = await browser.newContext({
    ...{ viewport: { width: 1440, height: 900 }, locale: 'en' },
    ...(storageState !== undefined && { storageState }),
  })
  context.setDefaultTimeout(SHOWN_MS)
  await context.addInitScript({ content: PROBE })
  return context
}

async function signIn(browser: Browser, origin: string, project: string): Promise<Storage> {
  const context = await newContext(browser)
  const page = await context.newPage()
  await page.goto(new URL('/app/login', origin).href)
  await page.locator('input[type=email]').fill(OWNER.address)
  await page.locator('input[type=password]').fill(OWNER.password)
  await page.keyboard.press('Enter')
  await page.locator('main.sheet h1').waitFor()
  // What a browser keeps of an overview, it keeps once that was there.
  await page.goto(new URL(`/app/${project}`, origin).href)
  await page.locator('.figures').waitFor()
  const storage = await context.storageState()
  await context.close()
  return storage
}

function look(page: Page, session: CDPSession): Omit<Visited, 'close'> {
  const metrics = async () => {
    const found = await session.send('Performance.getMetrics')
    return Object.fromEntries(found.metrics.map(({ name, value }) => [name, value]))
  }
  return {
    page,
    async shown() {
      const giveUpAt = performance.now() + SHOWN_MS
      while (!(await page.evaluate('probe.isQuiet()'))) {
        if (performance.now() > giveUpAt) throw new Error(`${page.url()} is never whole`)
        await sleep(POLL_MS)
      }
      return page.evaluate('probe.shown()')
    },
    async click(selector) {
      await page.evaluate('probe.beginAtClick()')
      await page.locator(selector).first().click()
    },
    search: (text) => page.evaluate(`probe.search(${JSON.stringify(text)})`),
    scroll: (rows, stepPx) => page.evaluate(`probe.scroll(${rows}, ${stepPx})`),
    async work() {
      const { TaskDuration, ScriptDuration, LayoutDuration, RecalcStyleDuration } = await metrics()
      const ms = (seconds = Number.NaN) => seconds * 1_000
      return {
        ...{ task: ms(TaskDuration), script: ms(ScriptDuration) },
        ...{ layout: ms(LayoutDuration), style: ms(RecalcStyleDuration) },
      }
    },
    longestTaskMs: () => page.evaluate('Math.max(0, ...probe.tasks)'),
    async heap() {
      await session.send('HeapProfiler.collectGarbage')
      const { JSHeapUsedSize = Number.NaN } = await metrics()
      return JSHeapUsedSize / MB
    },
  }
}
