/** The list of emails: its first rows, a search, and scrolling through thousands of rows. */
import { median, percentile, show } from '../table.ts'
import type { Visitor, Work } from './browser.ts'
import type { Scrolled } from './probe.ts'
import { type Measure, medianOf, p95Of } from './report.ts'

const FIRST_ROWS_MS = 500
const SEARCH_MS = 700
const FRAME_MS = 34
const MAX_ROWS = 80
const HEAP_MB = 80
const TASK_MS = 100
/** Of 36 px, at about 7,000 px a second: a quick flick. */
const STEP_PX = 120
const LIST = 'a[href$="/emails"]:visible'

type Wanted = {
  rounds: number
  /** Rows to scroll through. */
  rows: number
  /** Beginnings of addresses that got mail. */
  searches: readonly string[]
}

export async function measureEmailsList(visitor: Visitor, wanted: Wanted): Promise<Measure[]> {
  return [
    ...(await measureFirstRows(visitor, wanted)),
    ...(await measureSearch(visitor, wanted)),
    ...(await measureScrolling(visitor, wanted)),
  ]
}

async function measureFirstRows(visitor: Visitor, { rounds }: Wanted): Promise<Measure[]> {
  const [fromOverview, cold]: number[][] = [[], []]
  for (let round = 0; round < rounds; round += 1) {
    const visited = await visitor.visit({ path: `/app/${visitor.project}`, isSlow: true })
    await visited.shown()
    await visited.click(LIST)
    fromOverview?.push((await visited.shown()).wholeMs)
    await visited.close()
    const first = await visitor.visit({ path: `/app/${visitor.project}/emails`, isSlow: true })
    cold?.push((await first.shown()).wholeMs)
    await first.close()
  }
  return [
    medianOf('emails: first rows after the click, throttled', fromOverview ?? [], FIRST_ROWS_MS),
    medianOf('emails: first rows, cold page, throttled', cold ?? []),
  ]
}

async function measureSearch(visitor: Visitor, { searches }: Wanted): Promise<Measure[]> {
  const times: Record<'slow' | 'quick', number[]> = { slow: [], quick: [] }
  for (const kind of ['slow', 'quick'] as const) {
    const path = `/app/${visitor.project}/emails`
    const visited = await visitor.visit({ path, isSlow: kind === 'slow' })
    await visited.shown()
    for (const text of searches) {
      await visited.search(text)
      times[kind].push((await visited.shown()).wholeMs)
    }
    await visited.close()
  }
  return [
    medianOf('emails: rows after the last key of a search, throttled', times.slow, SEARCH_MS),
    p95Of('emails: the same', times.slow),
    medianOf('emails: the same, not throttled', times.quick),
  ]
}

async function measureScrolling(visitor: Visitor, { rows }: Wanted): Promise<Measure[]> {
  const path = `/app/${visitor.project}/emails`
  const slow = await scrollOnce(visitor, { path, isSlow: true }, rows)
  const quick = await scrollOnce(visitor, { path, isSlow: false }, rows)
  const p99 = percentile(slow.scrolled.framesMs, 0.99)
  const each = (name: keyof Work) => (quick.work[name] * 1_000) / quick.scrolled.pixels
  const parts = `script ${show(each('script'), 2)}, layout ${show(each('layout'), 2)}, style ${show(each('style'), 2)}`
  return [
    {
      ...{ name: 'emails: p99 of frames while scrolling, throttled', value: p99, unit: 'ms' },
      ...{ limit: FRAME_MS, digits: 1, more: `${framesOf(slow.scrolled)}` },
    },
    {
      ...{ name: 'emails: the same, not throttled', unit: 'ms', digits: 1 },
      ...{ value: percentile(quick.scrolled.framesMs, 0.99), more: framesOf(quick.scrolled) },
    },
    {
      ...{ name: 'emails: processor time for 1,000 px, not throttled', value: each('task') },
      ...{ unit: 'ms', digits: 2, more: parts },
    },
    {
      ...{ name: 'emails: longest task while scrolling, throttled', value: slow.longestMs },
      ...{ unit: 'ms', limit: TASK_MS },
    },
    {
      ...{ name: 'emails: most rows in the document', value: slow.scrolled.mostRows },
      ...{ unit: '', limit: MAX_ROWS },
    },
    {
      ...{ name: 'emails: heap after scrolling', value: slow.heapMb, unit: 'MB' },
      ...{ limit: HEAP_MB, digits: 1, more: `${slow.scrolled.rows} rows passed` },
    },
  ]
}

function framesOf({ framesMs }: Scrolled): string {
  const [middle, p95] = [median(framesMs), percentile(framesMs, 0.95)]
  const longest = Math.max(...framesMs)
  return `${framesMs.length} frames, median ${show(middle, 1)}, p95 ${show(p95, 1)}, longest ${show(longest)}`
}

async function scrollOnce(
  visitor: Visitor,
  where: { path: string; isSlow: boolean },
  rows: number,
): Promise<{ scrolled: Scrolled; work: Work; longestMs: number; heapMb: number }> {
  const visited = await visitor.visit(where)
  await visited.shown()
  const before = await visited.work()
  await visited.page.evaluate('probe.tasks.length = 0')
  const scrolled = await visited.scroll(rows, STEP_PX)
  const after = await visited.work()
  const longestMs = await visited.longestTaskMs()
  const heapMb = await visited.heap()
  await visited.close()
  const work = Object.fromEntries(
    Object.entries(after).map(([name, ms]) => [name, ms - before[name as keyof Work]]),
  ) as Work
  return { scrolled, work, longestMs, heapMb }
}
