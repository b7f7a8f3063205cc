/**
 * The receiver of `bench:webhooks`, in a process of its own. It answers each request after 20 ms, and
 * those below /hang never. The first message to the parent is the port; to each message of the
 * parent it answers with the numbers and last times of requests by path, and the time of the first.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export type ReceiverCounts = {
  counts: Record<string, number>
  /** Epoch ms of the last request by path. */
  lastAt: Record<string, number>
  /** 0 before the first request. */
  firstAt: number
}

const ANSWER_MS = 20

const counts: Record<string, number> = {}
const lastAt: Record<string, number> = {}
let firstAt = 0

const server = createServer((request, response) => {
  request.resume()
  const { url = '' } = request
  if (url.startsWith('/hang')) return
  request.on('end', () => {
    counts[url] = (counts[url] ?? 0) + 1
    lastAt[url] = Date.now()
    firstAt ||= lastAt[url]
    setTimeout(() => response.end('ok'), ANSWER_MS)
  })
})
server.keepAliveTimeout = 60_000

server.listen(0, '127.0.0.1', 65_000, () => {
  process.send?.((server.address() as AddressInfo).port)
})
process.on('message', () => {
  const report: ReceiverCounts = { counts: { ...counts }, lastAt: { ...lastAt }, firstAt }
  process.send?.(report)
})
process.on('disconnect', () => process.exit())
