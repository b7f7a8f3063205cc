/** The calls of the screens, as the dashboard makes them, and the search of the palette: times at the client. */
import { type Api, createApi } from '../api.ts'
import { processorMicroseconds } from '../server.ts'
import { show } from '../table.ts'
import type { Visitor } from './browser.ts'
import { type Measure, p95Of } from './report.ts'

const PANEL_MS = 300
const WARM_UPS = 3

export type Call = { path: string; firstMs: number }

type Wanted = { times: number; searches: Readonly<Record<string, readonly string[]>>; pid: number }

/** What a screen asks of the API until it is whole, with the time that each took at first. */
export async function recordCalls(visitor: Visitor, screen: string): Promise<Call[]> {
  const calls: Call[] = []
  const visited = await visitor.visit({ path: `/app/${visitor.project}${screen}` })
  visited.page.on('requestfinished', (request) => {
    if (request.resourceType() !== 'fetch' || request.method() !== 'GET') return
    const { pathname, search } = new URL(request.url())
    const { requestStart, responseEnd } = request.timing()
    calls.push({ path: pathname + search, firstMs: responseEnd - requestStart })
  })
  await visited.shown()
  await visited.close()
  return calls
}

/** The API with the session and the headers of the dashboard. */
export function openApi({ origin, cookie, project }: Visitor): Api {
  const headers = {
    ...{ Cookie: cookie, 'X-Project-Id': project, Prefer: 'handling=strict' },
    'Accept-Encoding': 'identity',
  }
  return createApi({ url: origin, headers })
}

export async function measureCalls(
  visitor: Visitor,
  calls: readonly Call[],
  { times, searches, pid }: Wanted,
): Promise<Measure[]> {
  const api = openApi(visitor)
  const measure = async (name: string, path: (index: number) => string, more = '') => {
    const before = processorMicroseconds(pid)
    const timesMs = await repeat(api, times, path)
    const spentMs = (processorMicroseconds(pid) - before) / 1_000 / (times + WARM_UPS)
    const measured = p95Of(`call ${name}`, timesMs, PANEL_MS)
    const spent = `${show(spentMs, 1)} ms of the server's processor`
    return { spentMs, measured: { ...measured, more: `${measured.more}, ${spent}${more}` } }
  }
  const measures: Measure[] = []
  let sumMs = 0
  for (const { path, firstMs } of calls) {
    const first = `, first in the browser ${show(firstMs)}`
    const { spentMs, measured } = await measure(nameOf(path, visitor), () => path, first)
    measures.push(measured)
    sumMs += spentMs
  }
  measures.push({
    ...{ name: 'overview: processor time of the server for all calls once', value: sumMs },
    ...{ unit: 'ms', digits: 1, more: `${calls.length} calls` },
  })
  for (const [name, texts] of Object.entries(searches)) {
    const path = (index: number) => {
      return `/search?q=${encodeURIComponent(texts[index % texts.length] ?? '')}`
    }
    measures.push((await measure(`/search, ${name}`, path)).measured)
  }
  api.close()
  return measures
}

async function repeat(api: Api, times: number, path: (index: number) => string): Promise<number[]> {
  const measured: number[] = []
  for (let index = 0; index < times + WARM_UPS; index += 1) {
    const { status, body, ms } = await api.call('GET', path(index))
    if (status >= 400) throw new Error(`${path(index)}: ${status} ${JSON.stringify(body)}`)
    if (index >= WARM_UPS) measured.push(ms)
  }
  return measured
}

function nameOf(path: string, { project }: Visitor): string {
  return path.replaceAll(project, ':id').replace(/\?.*/, '')
}
