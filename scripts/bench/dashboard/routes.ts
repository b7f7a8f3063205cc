/** Changes of the screen, warm: emails, an email, activity, overview, again and again. */
import { show } from '../table.ts'
import type { Visitor } from './browser.ts'
import { type Measure, p95Of } from './report.ts'

const SKELETON_MS = 150
const ROWS_MS = 400
/** Rounds before the first that counts: they load the files of the screens. */
const WARM_UPS = 2

export async function measureRoutes(visitor: Visitor, rounds: number): Promise<Measure[]> {
  const home = `/app/${visitor.project}`
  const steps = [
    { name: 'emails', link: `.nav a[href="${home}/emails"]` },
    { name: 'an email', link: 'tr[data-row] a' },
    { name: 'activity', link: `.nav a[href="${home}/activity"]` },
    { name: 'overview', link: `.nav a[href="${home}"]` },
  ]
  const visited = await visitor.visit({ path: home, isSlow: true })
  await visited.shown()
  const headings: number[] = []
  const wholes: number[] = []
  const byScreen = new Map<string, number[]>()
  for (let round = 0; round < rounds + WARM_UPS; round += 1) {
    for (const { name, link } of steps) {
      await visited.click(link)
      const { headingMs, wholeMs } = await visited.shown()
      if (round < WARM_UPS) continue
      headings.push(headingMs)
      wholes.push(wholeMs)
      byScreen.set(name, [...(byScreen.get(name) ?? []), wholeMs])
    }
  }
  const heapMb = await visited.heap()
  await visited.close()
  return [
    p95Of('route change: the new heading, throttled', headings, SKELETON_MS),
    p95Of('route change: whole, throttled', wholes, ROWS_MS),
    ...[...byScreen].map(([name, times]) => p95Of(`route change to ${name}, throttled`, times)),
    {
      ...{ name: 'route change: heap after all of them', value: heapMb, unit: 'MB', digits: 1 },
      more: `${show(headings.length)} changes`,
    },
  ]
}
