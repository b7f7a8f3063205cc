/**
 * What has crossed the borders of the main thread so far: requests, answers, messages of threads.
 */
import diagnostics from 'node:diagnostics_channel'
import { Resolver } from 'node:dns/promises'
import { Worker } from 'node:worker_threads'
import type { PackedResults } from '../../src/outbound/protocol.ts'

export type Activity = {
  /** Requests that came. */
  requests: number
  /** Deliveries, requests of our own and questions to the DNS that went out, and those that came back. */
  begun: number
  ended: number
  /** Results of deliveries, in `ended` too. */
  results: number
  /** By way and type, such as `to a thread: work`. */
  messages: Map<string, number>
}

/** `onBegun`: called before the first result can come. */
export function watchActivity(onBegun: () => void): Activity {
  const activity: Activity = { requests: 0, begun: 0, ended: 0, results: 0, messages: new Map() }
  const begin = (count: number) => {
    activity.begun += count
    if (count > 0) onBegun()
  }
  diagnostics.subscribe('http.server.request.start', () => {
    activity.requests += 1
  })
  const requests = new WeakSet<object>()
  const ended = (event: unknown) => {
    // A request may fail after its response.
    if (requests.delete((event as { request: object }).request)) activity.ended += 1
  }
  diagnostics.subscribe('http.client.request.start', (event) => {
    requests.add((event as { request: object }).request)
    begin(1)
  })
  diagnostics.subscribe('http.client.response.finish', ended)
  diagnostics.subscribe('http.client.request.error', ended)
  watchQuestions(activity)
  const { postMessage, emit } = Worker.prototype
  Worker.prototype.postMessage = function (this: Worker, ...args) {
    count('to a thread', args[0])
    begin(countTasks(args[0]))
    return postMessage.apply(this, args)
  } as typeof postMessage
  Worker.prototype.emit = function (this: Worker, ...args: Parameters<typeof emit>) {
    if (args[0] === 'message') {
      count('from a thread', args[1])
      const results = countResults(args[1])
      activity.results += results
      activity.ended += results
    }
    return emit.apply(this, args)
  } as typeof emit

  function count(way: string, message: unknown): void {
    const { type = 'other' } = (message ?? {}) as { type?: unknown }
    const name = `${way}: ${String(type)}`
    activity.messages.set(name, (activity.messages.get(name) ?? 0) + 1)
  }
  return activity
}

/** The clock waits for answers of the DNS; writes do not. */
function watchQuestions(activity: Activity): void {
  for (const name of ['resolve4', 'resolve6', 'resolveMx', 'resolveTxt'] as const) {
    const ask = Resolver.prototype[name] as (...args: unknown[]) => Promise<unknown>
    Object.assign(Resolver.prototype, {
      [name](this: Resolver, ...args: unknown[]) {
        activity.begun += 1
        return ask.apply(this, args).finally(() => {
          activity.ended += 1
        })
      },
    })
  }
}

function countTasks(message: unknown): number {
  const { tasks, type } = (message ?? {}) as { tasks?: unknown; type?: unknown }
  return Array.isArray(tasks) && type !== 'withdraw' ? tasks.length : 0
}

function countResults(message: unknown): number {
  const { packed } = (message ?? {}) as { packed?: PackedResults }
  return packed?.count ?? 0
}
