/** Whatever the end of an answer: the memory that it had is free again. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, get as request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { describe, it } from 'node:test'
import { newId } from '../../../src/store/ids.ts'
import { jobs } from '../../../src/store/schema/jobs.ts'
import { templates } from '../../../src/store/schema/messages.ts'
import { trustDomain } from '../../core.ts'
import { type StartedService, useService } from '../service.ts'

const started = useService({}, fill)

/** All of them on a page take more than the buffers of a connection. */
const TEMPLATES = 30
const PAGE = '/templates?page=1&pageSize=100'

async function fill({ service, mine }: StartedService) {
  await trustDomain(service.core, mine.id, 'example.test')
  const [createdAt, updatedAt] = [service.core.now(), service.core.now()]
  const rows = Array.from({ length: TEMPLATES }, (_, number) => ({
    ...{ id: newId(), projectId: mine.id, name: `${number}`, subject: 'Hello' },
    ...{ body: 'x'.repeat(300_000), fromAddress: 'a@example.test', fromDomain: 'example.test' },
    ...{ createdAt, updatedAt },
  }))
  await service.core.store.write(async (tx) => {
    for (const row of rows) await tx.insert(templates).values(row)
  })
}

/** What the answers hold now. */
async function heldBytes(): Promise<number> {
  const text = await (await fetch(`${started.service.url}/metrics`)).text()
  const [, bytes] = /^pillarbox_http_answers_bytes (\d+)$/m.exec(text) ?? []
  assert.ok(bytes !== undefined, text.slice(0, 200))
  return Number(bytes)
}

/** Resolves when the answers hold `bytes` or less; the test fails by its timeout otherwise. */
async function untilHeld(bytes: number): Promise<void> {
  while ((await heldBytes()) > bytes) await new Promise(setImmediate)
}

/** Asks, and takes the beginning of the answer. */
async function ask(path: string, method = 'GET'): Promise<Socket> {
  const { hostname, port } = new URL(started.service.url)
  const socket = connect(Number(port), hostname)
  const authorization = `Authorization: Bearer ${started.mine.secret}`
  socket.write(`${method} ${path} HTTP/1.1\r\nHost: ${hostname}\r\n${authorization}\r\n\r\n`)
  const [head] = (await once(socket, 'data')) as [Buffer]
  socket.pause()
  assert.match(head.toString('latin1'), /^HTTP\/1\.1 200 /)
  return socket
}

describe('S29: the memory of an answer', () => {
  it('is held while its client reads nothing, and free when the client has gone', async () => {
    const socket = await ask(PAGE)
    assert.ok((await heldBytes()) >= 512 * 1024)
    socket.destroy()
    await untilHeld(0)
  })

  it('is as large as what a request has asked of a job', async () => {
    const { service, mine } = started
    const at = service.core.now()
    const emails = ['x'.repeat(3_000_000)]
    const times = { runAt: at, createdAt: at, updatedAt: at }
    const job = { id: 'verify-1', kind: 'verify-list', projectId: mine.id, maxAttempts: 1 }
    await service.core.store.write(async (tx) => {
      const payload = { mode: 'emails', emails }
      await tx.insert(jobs).values({ ...job, ...times, payload, state: 'failed' })
    })
    const socket = await ask(`/contacts/verify/${job.id}`)
    assert.ok((await heldBytes()) >= 6_000_000)
    socket.destroy()
    await untilHeld(0)
    const { body } = await started.call('get', `/contacts/verify/${job.id}`).expect(200)
    assert.deepEqual(body.data.emails, emails)
  })

  it('is free when the client has the answer, on a connection that stays open', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const headers = { authorization: `Bearer ${started.mine.secret}` }
    const read = (path: string) =>
      new Promise<number>((resolve, reject) => {
        const sent = request(`${started.service.url}${path}`, { agent, headers }, (response) => {
          let bytes = 0
          response.on('data', (piece: Buffer) => {
            bytes += piece.length
          })
          response.on('end', () => resolve(bytes))
        })
        sent.on('error', reject)
      })
    assert.ok((await read(PAGE)) > 2 * TEMPLATES * 300_000, 'a page by number has all of its rows')
    await untilHeld(0)
    assert.ok((await read(PAGE)) > 2 * TEMPLATES * 300_000)
    await untilHeld(0)
    agent.destroy()
  })

  it('is free after HEAD, after a refusal and after a short answer', async () => {
    const head = await ask(PAGE, 'HEAD')
    await untilHeld(0)
    head.destroy()
    await started.call('get', '/templates?cursor=nonsense').expect(422)
    await started.call('get', '/segments').expect(200, [])
    await untilHeld(0)
  })

  it('is free when the answer fails while it is sent', async (t) => {
    const { read } = started.service.core.store
    const find = read.find.bind(read)
    let left = 20
    t.mock.method(read, 'find', (...given: Parameters<typeof find>) => {
      left -= 1
      return left > 0 ? find(...given) : Promise.reject(new Error('the disk is gone'))
    })
    const socket = await ask(PAGE)
    socket.resume()
    await once(socket, 'close')
    assert.ok(socket.bytesRead < 2 * TEMPLATES * 300_000, 'the connection was cut')
    t.mock.restoreAll()
    await untilHeld(0)
  })
})
