/** What compressing takes counts as memory of the answer, and ends when the client leaves. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, it } from 'node:test'
import {
  type AnswerAllowance,
  createAnswerAllowance,
} from '../../../../src/http/exchange/answer-allowance.ts'
import { COMPRESSION_BYTES } from '../../../../src/http/exchange/compression/compress-pieces.ts'
import { json } from '../../../../src/http/response.ts'
import { openOperation, openRoute, type Route } from '../../../../src/http/route.ts'
import { openTestCore } from '../../../core.ts'
import { cleanUpAfterFile } from '../../../file-cleanup.ts'
import { serveRoutes } from '../serve-routes.ts'

const BYTES = 100_000
const LIMITS = { totalBytes: 1e8, addressBytes: 1e8, ownerBytes: 1e8 }

const cleanup = cleanUpAfterFile()
let answers: AnswerAllowance
let server: Server
const left = Promise.withResolvers<void>()

async function* endless(): AsyncGenerator<Uint8Array> {
  try {
    for (;;) yield Buffer.alloc(BYTES)
  } finally {
    left.resolve()
  }
}

const operation = (handle: Parameters<typeof openOperation>[0]['handle']) =>
  openOperation({ tag: 'Test', summary: 'A test', responses: {}, answerBytes: BYTES, handle })

/** Paths whose answers are compressed. */
const routes: Route[] = [
  openRoute(
    { method: 'GET', path: '/openapi.json' },
    operation(() => json(200, answers.load().bytes)),
  ),
  openRoute(
    { method: 'GET', path: '/docs' },
    operation(() => ({ status: 200, body: endless(), headers: {} })),
  ),
]

before(async () => {
  const core = await openTestCore(cleanup)
  answers = createAnswerAllowance(LIMITS, core.counters)
  server = await serveRoutes({ core, answers }, routes)
})

after(() => {
  server.closeAllConnections()
  server.close()
})

async function ask(path: string, accepted: string) {
  const { port } = server.address() as AddressInfo
  const headers = { 'accept-encoding': accepted }
  const sent = request({ host: '127.0.0.1', port, path, headers })
  sent.end()
  const [answer] = (await once(sent, 'response')) as [import('node:http').IncomingMessage]
  return answer
}

it('S29: counts beside the answer', async () => {
  const bytesFor = async (accepted: string) => {
    const answer = await ask('/openapi.json', accepted)
    return Number(Buffer.concat(await answer.toArray()).toString())
  }
  assert.equal(await bytesFor('identity'), BYTES)
  assert.equal(await bytesFor('gzip'), BYTES + COMPRESSION_BYTES)
  assert.equal(await bytesFor('br'), BYTES + COMPRESSION_BYTES)
})

it('S29: ends with the client, and gives its memory back', async () => {
  const answer = await ask('/docs', 'gzip')
  assert.equal(answer.headers['content-encoding'], 'gzip')
  await once(answer, 'readable')
  answer.destroy()
  await left.promise
  while (answers.load().bytes > 0) await new Promise(setImmediate)
})
