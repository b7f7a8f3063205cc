/** The receivers' process, and requests that go on while the campaign is sent. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { percentile } from '../table.ts'
import type { SinkOptions } from './sink.ts'
import { makeCampaignBody } from './text.ts'

export type Api = (method: string, route: string, body?: object) => Promise<unknown>

export type Receivers = Awaited<ReturnType<typeof startReceivers>>

export async function startReceivers(options: SinkOptions) {
  const child = fork(path.join(import.meta.dirname, 'sink.ts'))
  child.send(options)
  const [port] = await once(child, 'message')
  return {
    port: Number(port),
    stop: () => void child.kill(),
    /** When a message last began, epoch ms. */
    async lastDataAt(): Promise<number> {
      child.send('last data')
      const [at] = await once(child, 'message')
      return Number(at)
    },
  }
}

export function createApi(url: string, secret: string): Api {
  return async (method, route, body) => {
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }
    const init = body === undefined ? {} : { body: JSON.stringify(body) }
    const response = await fetch(url + route, { method, headers, ...init })
    const answer: unknown = await response.json()
    if (!response.ok) throw new Error(`${method} ${route}: ${JSON.stringify(answer)}`)
    return answer
  }
}

/** Makes the campaign of the benchmark and sends it. Returns its id. */
export async function sendCampaign(api: Api, change: object = {}): Promise<string> {
  const body = { ...makeCampaignBody(), ...change }
  const { data } = (await api('POST', '/campaigns', body)) as { data: { id: string } }
  await api('POST', `/campaigns/${data.id}/send`)
  return data.id
}

export type Repeated = { method?: string; route: string; everyMs?: number }

/**
 * Makes each request twice a second, unless it says otherwise, until `stop`, which returns the p99 of each
 * in ms. The requests take turns, as those of people do.
 */
export function startRequests(api: Api, requests: Record<string, Repeated>) {
  let isStopping = false
  const all = Object.entries(requests)
  const loops = all.map(async ([name, { method = 'GET', route, everyMs = 500 }], index) => {
    const times: number[] = []
    await sleep((everyMs * index) / all.length)
    while (!isStopping) {
      const startedAt = performance.now()
      await api(method, route)
      times.push(performance.now() - startedAt)
      await sleep(Math.max(0, everyMs - (performance.now() - startedAt)))
    }
    return [name, percentile(times, 0.99)] as const
  })
  return async (): Promise<Record<string, number>> => {
    isStopping = true
    return Object.fromEntries(await Promise.all(loops))
  }
}
