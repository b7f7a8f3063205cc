/** A server on loopback that receives webhooks and keeps them. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { TestContext } from 'node:test'

export type Received = {
  method: string
  url: string
  headers: IncomingHttpHeaders
  body: string
  at: number
}

export type Receiver = {
  url: string
  received: Received[]
  /** Answers; 200 by default. */
  answer: (response: ServerResponse, request: Received) => void
  /** Resolves when so many requests have arrived in all. */
  waitFor(count: number): Promise<Received[]>
  close(): Promise<void>
}

export async function startReceiver(t: Pick<TestContext, 'after'>): Promise<Receiver> {
  const received: Received[] = []
  const waiting: { count: number; resolve: () => void }[] = []
  const sockets = new Set<Socket>()
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { method = '', url = '', headers } = request
      const one = { method, url, headers, body: Buffer.concat(chunks).toString(), at: Date.now() }
      received.push(one)
      for (const each of waiting) if (received.length >= each.count) each.resolve()
      receiver.answer(response, one)
    })
  })
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    answer: (response) => response.end('ok'),
    async waitFor(count) {
      const { promise, resolve } = Promise.withResolvers<void>()
      waiting.push({ count, resolve })
      if (received.length >= count) resolve()
      await promise
      return received
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      if (server.listening) await new Promise((resolve) => server.close(resolve))
    },
  }
  t.after(receiver.close)
  return receiver
}
