/**
 * Samples the memory and the delays of the event loop while the run goes on. A server at rest has no work
 * and no connections: its descriptors and threads are those that last. They are compared between the first
 * process, after the warm-up, and the last one, after a quarter of the run.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { readMetric, readUsage, type Sample, type Usage } from './resources.ts'
import type { Server } from './server.ts'

type Deps = { server: Pick<Server, 'pid'>; url: string }

const EVERY_MS = 2_000
/** Connections to receivers and threads without work are kept for half a minute. */
const REST_MS = { least: 35_000, most: 60_000 }
const LOOP_DELAY = 'pillarbox_event_loop_delay_p99_seconds'

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
    const delay = readMetric(text, LOOP_DELAY)
    const loopDelayP99Ms = delay === undefined ? undefined : delay * 1_000
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
export async function readAtRest(server: Deps['server']): Promise<Usage> {
  await sleep(REST_MS.least)
  for (const endsAt = Date.now() + REST_MS.most; Date.now() < endsAt; await sleep(500)) {
    if (readUsage(server.pid()).descriptors.connections === 0) break
  }
  return readUsage(server.pid())
}
