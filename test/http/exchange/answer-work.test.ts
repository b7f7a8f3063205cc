/** The memory of an answer while its handler works: after the client has left, and after the work has changed something. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Server, ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { after, before, describe, it } from 'node:test'
import {
  type AnswerAllowance,
  createAnswerAllowance,
} from '../../../src/http/exchange/answer-allowance.ts'
import { json } from '../../../src/http/response.ts'
import { openOperation, openRoute, type Route } from '../../../src/http/route.ts'
import { runFor } from '../../../src/turns/owner.ts'
import { nextTurn } from '../../../src/work/loop-turns.ts'
import { openTestCore, type TestCore } from '../../core.ts'
import { cleanUpAfterFile } from '../../file-cleanup.ts'
import { serveRoutes } from './serve-routes.ts'

const BYTES = 100_000
const LIMITS = { totalBytes: 2 * BYTES, addressBytes: 2 * BYTES, ownerBytes: 2 * BYTES }

const cleanup = cleanUpAfterFile()
let core: TestCore
let answers: AnswerAllowance
let server: Server
/** What the work has come to, and what lets it go on. */
const steps = { begun: Promise.withResolvers<void>(), goOn: Promise.withResolvers<void>() }
/** How the work of the last request ended. */
let ended = Promise.withResolvers<unknown>()

async function work(): Promise<void> {
  steps.begun.resolve()
  await steps.goOn.promise
}

async function* produce(): AsyncGenerator<Uint8Array> {
  yield Buffer.alloc(10)
  await work()
  yield Buffer.alloc(10)
}

const operation = (handle: Parameters<typeof openOperation>[0]['handle']) =>
  openOperation({ tag: 'Test', summary: 'A test', responses: {}, answerBytes: BYTES, handle })

const get = (path: string, handle: Parameters<typeof operation>[0]): Route =>
  openRoute({ method: 'GET', path }, operation(handle))

const routes: Route[] = [
  get('/read', async () => {
    await work()
    ended.resolve(undefined)
    return json(200, 'x'.repeat(BYTES))
  }),
  get('/waits', async (call) => {
    await call.reserve(2 * BYTES).then(ended.resolve, ended.resolve)
    return json(200, null)
  }),
  get('/changes', async (call) => {
    await core.store.write(async () => undefined)
    await call.reserve(2 * BYTES)
    return json(200, answers.load().bytes)
  }),
  get('/stream', () => ({ status: 200, body: produce(), headers: {} })),
]

before(async () => {
  core = await openTestCore(cleanup)
  answers = createAnswerAllowance(LIMITS, core.counters)
  server = await serveRoutes({ core, answers }, routes)
})

after(() => {
  server.closeAllConnections()
  server.close()
})

/** Asks and returns the connection, and the response of the server. */
async function ask(path: string): Promise<{ socket: Socket; outgoing: ServerResponse }> {
  Object.assign(steps, {
    begun: Promise.withResolvers<void>(),
    goOn: Promise.withResolvers<void>(),
  })
  ended = Promise.withResolvers<unknown>()
  const { port } = server.address() as AddressInfo
  const socket = connect(port, '127.0.0.1')
  const requested = once(server, 'request')
  socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`)
  const [, outgoing] = (await requested) as [unknown, ServerResponse]
  return { socket, outgoing }
}

/** Resolves when the server knows that the client has left. */
async function leave({ socket, outgoing }: Awaited<ReturnType<typeof ask>>): Promise<void> {
  const closed = once(outgoing, 'close')
  socket.destroy()
  await closed
}

/** The test fails by its timeout otherwise. */
async function untilFree(): Promise<void> {
  while (answers.load().bytes > 0) await new Promise(setImmediate)
}

describe('S29: the memory of an answer whose client has left', () => {
  for (const path of ['/read', '/stream']) {
    it(`is taken until the work of its handler has ended: ${path}`, async () => {
      const client = await ask(path)
      client.socket.resume()
      await steps.begun.promise
      await leave(client)
      for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate)
      assert.equal(answers.load().bytes, BYTES)
      steps.goOn.resolve()
      await untilFree()
    })
  }

  it('is read into by no work that had no turn yet', async () => {
    const lines = Array.from({ length: 1_000 }, (_, index) => ({ key: `${index}`, isJob: false }))
    const others = Promise.all(lines.map((line) => runFor(line, nextTurn)))
    const client = await ask('/read')
    let hasBegun = false
    steps.begun.promise.then(() => {
      hasBegun = true
    })
    await leave(client)
    assert.equal(answers.load().bytes, BYTES, 'it waits for its turn')
    await others
    await untilFree()
    assert.equal(hasBegun, false)
  })

  it('is waited for no more, at once', async () => {
    const others = answers.open({ address: '192.0.2.1', owner: 'others' })
    others.reserve(BYTES)
    const client = await ask('/waits')
    while (answers.load().waiting === 0) await new Promise(setImmediate)
    await leave(client)
    assert.equal(Object(await ended.promise).code, 'REQUEST_TIMEOUT')
    others.release()
    await untilFree()
  })
})

describe('S29: work that has changed something', () => {
  it('answers its result without memory too, which counts', async () => {
    const others = answers.open({ address: '192.0.2.1', owner: 'others' })
    others.reserve(BYTES)
    const { port } = server.address() as AddressInfo
    const response = await fetch(`http://127.0.0.1:${port}/changes`)
    assert.deepEqual([response.status, await response.json()], [200, 3 * BYTES])
    others.release()
    await untilFree()
  })
})
