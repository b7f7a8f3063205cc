/**
 * The process that makes the load: HTTP/1.1 over persistent raw sockets, one request at a time on
 * each. The first message from the parent describes the load, the second one ends it. The process
 * reports its start and its results.
 */
import { connect, type Socket } from 'node:net'
import type { LoadRequest, LoadResult } from './sender.ts'

process.once('message', async (message) => {
  const ended = new AbortController()
  process.once('message', () => ended.abort())
  process.send?.('begun')
  process.send?.(await run(message as LoadRequest, ended.signal))
})

async function run(request: LoadRequest, ended: AbortSignal): Promise<LoadResult> {
  const { hostname, port } = new URL(request.url)
  const latencies: number[] = []
  let next = request.from
  let refused = 0
  const last = request.requests === undefined ? Number.POSITIVE_INFINITY : next + request.requests
  const startedAt = performance.now()
  const endsAt = startedAt + (request.seconds ?? 3_600) * 1_000
  const paceMs =
    request.perSecond === undefined ? 0 : (request.connections * 1_000) / request.perSecond

  async function worker(index: number): Promise<void> {
    const socket = connect(Number(port), hostname)
    socket.setNoDelay(true)
    const responses = readResponses(socket)
    let dueAt = startedAt + (paceMs * index) / request.connections
    while (next < last && performance.now() < endsAt && !ended.aborted) {
      if (paceMs > 0) await pause(dueAt - performance.now())
      const number = next++
      const sentAt =
        paceMs > 0 ? Math.min(performance.now(), Math.max(dueAt, startedAt)) : performance.now()
      socket.write(encode(request, hostname, number))
      const { value: status } = await responses.next()
      latencies.push(performance.now() - sentAt)
      if (status === undefined || status >= 400) refused += 1
      dueAt += paceMs
    }
    socket.destroy()
  }

  await Promise.all(Array.from({ length: request.connections }, (_, index) => worker(index)))
  const seconds = (performance.now() - startedAt) / 1_000
  latencies.sort((a, b) => a - b)
  const at = (share: number) => latencies[Math.floor((latencies.length - 1) * share)] ?? 0
  return {
    answered: latencies.length,
    refused,
    perSecond: latencies.length / seconds,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
  }
}

function encode(request: LoadRequest, host: string, number: number): string {
  if ('paths' in request) {
    const { paths, userAgent } = request
    const path = paths[number % paths.length]
    return `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nUser-Agent: ${userAgent}\r\nAccept: text/html\r\n\r\n`
  }
  const json = request.body.replaceAll('@@', String(number))
  return `POST ${request.path ?? '/v1/send'} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${request.secret}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(json)}\r\n\r\n${json}`
}

/** Reads the status of each response, framed by Content-Length. */
async function* readResponses(socket: Socket): AsyncGenerator<number> {
  let text = ''
  for await (const chunk of socket) {
    text += (chunk as Buffer).toString('latin1')
    for (;;) {
      const headEnd = text.indexOf('\r\n\r\n')
      if (headEnd === -1) break
      const length = Number(/content-length: (\d+)/i.exec(text.slice(0, headEnd))?.[1] ?? 0)
      if (text.length < headEnd + 4 + length) break
      const status = Number(text.slice(9, 12))
      text = text.slice(headEnd + 4 + length)
      yield status
    }
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)))
}
