/** The first load: what the browser gets, and how long the sign-in and the overview take until they can be used. */
import { createApi } from '../api.ts'
import type { Visited, Visitor } from './browser.ts'
import { type Measure, medianOf } from './report.ts'

const KB = 1024
const SIZE_LIMIT_KB = 60
/** With what the overview shows as a chart. */
const CHART_LIMIT_KB = 80
const REQUESTS = 6
const USABLE_MS = 1_000
const TASK_MS = 100
const CHART = /^chart-/

export async function measureFirstLoad(visitor: Visitor, rounds: number): Promise<Measure[]> {
  const screens = [
    { name: 'sign-in', path: '/app/login', isKnown: false },
    { name: 'overview', path: `/app/${visitor.project}`, isKnown: true },
  ]
  const measures: Measure[] = []
  for (const screen of screens) {
    measures.push(...(await measureFiles(visitor, screen)))
    measures.push(...(await measureTimes(visitor, screen, rounds)))
  }
  return measures
}

type Screen = { name: string; path: string; isKnown: boolean }

async function measureFiles(visitor: Visitor, { name, ...where }: Screen): Promise<Measure[]> {
  const files: string[] = []
  const visited = await visitor.visit({
    ...where,
    onRequest(request) {
      const { pathname } = new URL(request.url())
      if (pathname.startsWith('/app')) files.push(pathname)
    },
  })
  await visited.shown()
  await visited.close()
  const assets = files.filter((file) => file.startsWith('/app/assets/'))
  const sizes = await Promise.all(assets.map((file) => gzippedBytes(visitor.origin, file)))
  const sum = (isCounted: (file: string) => boolean) =>
    sizes.reduce((total, bytes, at) => total + (isCounted(assets[at] ?? '') ? bytes : 0), 0) / KB
  const isChart = (file: string) => CHART.test(file.slice('/app/assets/'.length))
  const named = assets.map((file) => file.slice('/app/assets/'.length).replace(/-\w+\./, '.'))
  const common = { unit: 'KB', digits: 1, more: named.join(' ') }
  const own = { name: `${name}: scripts and styles, gz`, value: sum((file) => !isChart(file)) }
  return [
    { ...common, ...own, limit: SIZE_LIMIT_KB },
    ...(assets.some(isChart)
      ? [
          {
            ...{ name: `${name}: the same with its chart`, value: sum(() => true), unit: 'KB' },
            ...{ limit: CHART_LIMIT_KB, digits: 1 },
          },
        ]
      : []),
    {
      ...{ name: `${name}: requests for the page and its files`, value: files.length },
      ...{ unit: '', limit: REQUESTS },
    },
  ]
}

async function gzippedBytes(origin: string, file: string): Promise<number> {
  const api = createApi({ url: origin, headers: { 'Accept-Encoding': 'gzip' } })
  const { bytes } = await api.drain(file)
  api.close()
  return bytes
}

async function measureTimes(
  visitor: Visitor,
  { name, ...where }: Screen,
  rounds: number,
): Promise<Measure[]> {
  const [heading, whole, tasks, work, quick]: number[][] = [[], [], [], [], []]
  const look = async (isSlow: boolean, read: (visited: Visited) => Promise<void>) => {
    const visited = await visitor.visit({ ...where, isSlow })
    await read(visited)
    await visited.close()
  }
  for (let round = 0; round < rounds; round += 1) {
    await look(true, async (visited) => {
      const { headingMs, wholeMs } = await visited.shown()
      heading?.push(headingMs)
      whole?.push(wholeMs)
      tasks?.push(await visited.longestTaskMs())
    })
    await look(false, async (visited) => {
      quick?.push((await visited.shown()).wholeMs)
      work?.push((await visited.work()).task)
    })
  }
  return [
    medianOf(`${name}: heading or form, cold, throttled`, heading ?? []),
    medianOf(`${name}: usable, cold, throttled`, whole ?? [], USABLE_MS),
    medianOf(`${name}: longest task, throttled`, tasks ?? [], TASK_MS),
    medianOf(`${name}: usable, cold, not throttled`, quick ?? []),
    medianOf(`${name}: processor time of the main thread, not throttled`, work ?? []),
  ]
}
