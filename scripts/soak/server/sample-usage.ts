/**
 * Samples the memory and the delays of the event loop while the run goes on, and reads both at rest.
 *
 * A server at rest has no work and no connections: its descriptors, threads and handles are those that
 * last. They are compared between the first process, after the warm-up, and the last
 * one, after a quarter of the run.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { readMetric, readUsage, type Sample, type Usage } from './resources.ts'
import type { Server } from './server.ts'

export type Rest = Usage & { handles: number | undefined }

type Deps = { server: Pick<Server, 'pid'>; url: string }

const EVERY_MS = 2_000
/** Delays are measured every 10 ms: less means that nothing was measured since the previous scrape. */
const RESOLUTION_MS = 1
/** Connections to receivers and threads without work are kept for half a minute. */
const REST_MS = { least: 35_000, most: 60_000 }
const LOOP_DELAYS = ['nodejs_eventloop_lag_p99_seconds', 'pillarbox_event_loop_delay_p99_seconds']
const HANDLES = ['nodejs_active_handles_total', 'nodejs_active_resources_total']

/** Returns what stops it. */
export function sampleUsage(deps: Deps, samples: Sample[]): () => void {
  const timer = setInterval(() => {
    void takeSample(deps).then((sample) => {
      if (sample !== undefined) samples.push(sample)
    })
  }, EVERY_MS)
  return () => clearInterval(timer)
}

/** Undefined while no server runs. */
async function takeSample({ server, url }: Deps): Promise<Sample | undefined> {
  try {
    const text = await scrape(url)
    const { residentMegabytes } = readUsage(server.pid())
    const delayMs = (readMetric(text, ...LOOP_DELAYS) ?? 0) * 1_000
    const loopDelayP99Ms = delayMs < RESOLUTION_MS ? undefined : delayMs
    return { at: Date.now(), residentMegabytes, loopDelayP99Ms }
  } catch {
    return undefined
  }
}

async function scrape(url: string): Promise<string> {
  const response = await fetch(new URL('/metrics', url), { headers: { connection: 'close' } })
  return response.text()
}

/** Waits until the connections have ended; the caller has closed its own. */
export async function readAtRest({ server, url }: Deps): Promise<Rest> {
  await sleep(REST_MS.least)
  for (const endsAt = Date.now() + REST_MS.most; Date.now() < endsAt; await sleep(500)) {
    if (readUsage(server.pid()).descriptors.connections === 0) break
  }
  const handles = readMetric(await scrape(url), ...HANDLES)
  await sleep(500)
  return { ...readUsage(server.pid()), handles }
}
