/** What a tab asks for that nobody uses, in the second minute after the last key, and once it is hidden. */
import { setTimeout as sleep } from 'node:timers/promises'
import { processorMicroseconds } from '../server.ts'
import type { Visited, Visitor } from './browser.ts'
import { openApi } from './calls.ts'
import type { Measure } from './report.ts'

const REQUESTS = 12
const SECONDS = 60
const SCREENS = { overview: '', emails: '/emails', activity: '/activity' }
/** The time that an answer has before the clock of the page goes on. */
const ANSWER_MS = 40
const REPEATS = 20

export async function measureIdle(visitor: Visitor, pid: number): Promise<Measure[]> {
  const measures: Measure[] = []
  for (const [name, screen] of Object.entries(SCREENS)) {
    const asked: string[] = []
    const visited = await visitor.visit({
      path: `/app/${visitor.project}${screen}`,
      hasOwnClock: true,
      onRequest(request) {
        const { pathname, search } = new URL(request.url())
        asked.push(pathname + search)
      },
    })
    await visited.page.locator('h1').waitFor()
    await passMinute(visited)
    const begun = asked.length
    await passMinute(visited)
    const inMinute = asked.slice(begun)
    await hide(visited)
    const hidden = asked.length
    await passMinute(visited)
    const whileHidden = asked.length - hidden
    await visited.close()
    const ms = await processorMs(visitor, inMinute, pid)
    measures.push(
      {
        ...{ name: `${name}: requests a minute of an idle tab`, value: inMinute.length, unit: '' },
        ...{ limit: REQUESTS, more: describe(inMinute, visitor) },
      },
      {
        ...{ name: `${name}: processor time of the server for them`, value: ms, unit: 'ms' },
        digits: 1,
      },
      {
        ...{ name: `${name}: requests a minute of a hidden tab`, value: whileHidden, unit: '' },
        limit: 0,
      },
    )
  }
  return measures
}

async function passMinute({ page }: Visited): Promise<void> {
  for (let second = 0; second < SECONDS; second += 1) {
    await page.clock.runFor(1_000)
    await sleep(ANSWER_MS)
  }
}

/** A browser without a window hides no tab, so the page is told so. */
async function hide({ page }: Visited): Promise<void> {
  await page.evaluate(`(() => {
    Object.defineProperty(document, 'visibilityState', { get: () => 'hidden' })
    Object.defineProperty(document, 'hidden', { get: () => true })
    document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))
  })()`)
}

/** The processor time of the server for the same calls. */
async function processorMs(visitor: Visitor, paths: string[], pid: number): Promise<number> {
  const api = openApi(visitor)
  const before = processorMicroseconds(pid)
  for (let round = 0; round < REPEATS; round += 1) {
    for (const path of paths) await api.ask('GET', path)
  }
  const spent = processorMicroseconds(pid) - before
  api.close()
  return spent / 1_000 / REPEATS
}

/** `/emails 4, /jobs 2` */
function describe(paths: readonly string[], { project }: Visitor): string {
  const counts = new Map<string, number>()
  for (const path of paths) {
    const name = path.replaceAll(project, ':id').replace(/\?.*/, '')
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return [...counts].map(([name, count]) => `${name} ${count}`).join(', ')
}
