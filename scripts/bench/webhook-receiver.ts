/**
 * The receiver of `bench:webhooks`, in a process of its own. It answers each request after 20 ms, and
 * those below /hang never. The first message to the parent is the port; to each message of the
 * parent it answers with the numbers of requests by path, and with the times of the first and the last.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export type ReceiverCounts = {
  counts: Record<string, number>
  /** Epoch ms; 0 before the first request. */
  firstAt: number
  lastAt: number
}

const ANSWER_MS = 20

const counts: Record<string, number> = {}
let firstAt = 0
let lastAt = 0

const server = createServer((request, response) => {
  request.resume()
  const { url = '' } = request
  if (url.startsWith('/hang')) return
  request.on('end', () => {
    counts[url] = (counts[url] ?? 0) + 1
    lastAt = Date.now()
    firstAt ||= lastAt
    setTimeout(() => response.end('ok'), ANSWER_MS)
  })
})
server.keepAliveTimeout = 60_000

server.listen(0, '127.0.0.1', 65_000, () => {
  process.send?.((server.address() as AddressInfo).port)
})
process.on('message', () => {
  const report: ReceiverCounts = { counts: { ...counts }, firstAt, lastAt }
  process.send?.(report)
})
process.on('disconnect', () => process.exit())
