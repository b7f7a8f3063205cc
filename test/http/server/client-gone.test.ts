import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { waitingClient } from '../../../src/http/server/client-gone.ts'
import { runFor } from '../../../src/turns/owner.ts'
import { createTurns } from '../../../src/turns/turns.ts'

/** A server that answers when the test does, and a client with one request. */
async function open(t: TestContext) {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined)
  t.after(() => {
    socket.destroy()
    server.closeAllConnections()
    server.close()
  })
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  const [incoming, outgoing]: [IncomingMessage, ServerResponse] = (await once(
    server,
    'request',
  )) as [IncomingMessage, ServerResponse]
  return { socket, incoming, outgoing, client: waitingClient({ incoming, outgoing }) }
}

test('S31: a client that disconnects leaves the line with all its work, by one listener', async (t) => {
  const { socket, incoming, client } = await open(t)
  const turns = createTurns({
    ...{ atOnce: 1, waitingPerProject: 50, waiting: 50, to: 'here', retryAfterSeconds: 1 },
  })
  const { promise, resolve: end } = Promise.withResolvers<void>()
  const running = turns.take(() => promise)
  const before = incoming.socket.listenerCount('close')
  const outcomes = Array.from({ length: 20 }, () =>
    runFor({ key: 'a', isJob: false, client }, () => turns.take(async () => 'done')).catch(
      ({ code }) => code,
    ),
  )
  assert.deepEqual([turns.waiting(), incoming.socket.listenerCount('close')], [20, before + 1])
  const closed = once(incoming.socket, 'close')
  socket.destroy()
  await closed
  assert.equal(turns.waiting(), 0)
  assert.deepEqual(new Set(await Promise.all(outcomes)), new Set(['REQUEST_TIMEOUT']))
  assert.equal(client.hasLeft(), true)
  end()
  await running
})

test('who has had its turn no longer listens, and who has its response has not left', async (t) => {
  const { socket, incoming, outgoing, client } = await open(t)
  const before = incoming.socket.listenerCount('close')
  const stays = [client.onLeave(assert.fail), client.onLeave(assert.fail)]
  for (const stay of stays) stay()
  assert.equal(incoming.socket.listenerCount('close'), before)
  outgoing.end('done')
  await once(socket, 'data')
  const closed = once(incoming.socket, 'close')
  socket.destroy()
  await closed
  assert.deepEqual([incoming.socket.destroyed, client.hasLeft()], [true, false])
})
