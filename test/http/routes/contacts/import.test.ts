import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { beforeEach, type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { createSchedule } from '../../../../src/core/areas.ts'
import { enqueueForProject } from '../../../../src/features/ground/enqueue-for-project.ts'
import { contacts } from '../../../../src/store/schema/contacts.ts'
import { importChunks, jobs } from '../../../../src/store/schema/jobs.ts'
import { suppressions } from '../../../../src/store/schema/suppressions.ts'
import { startJobs } from '../../../../src/work/jobs/jobs.ts'
import { pause } from '../../../pause.ts'
import { startService, useService } from '../../service.ts'

const { service, mine, other } = useService()

beforeEach(async () => {
  await service.core.store.write(async (tx) => {
    for (const table of [importChunks, jobs, contacts, suppressions]) await tx.delete(table).run()
  })
})

type Part = [name: string, value: string | Blob, filename?: string]

const csv = (text: string | Uint8Array, type = 'text/csv') =>
  new Blob([typeof text === 'string' ? text : Buffer.from(text)], { type })

const people = 'Email,Plan\nada@dest.test,pro\n'
const file: Part = ['file', csv(people), 'people.csv']

// biome-ignore lint/suspicious/noExplicitAny: what a client sees has no types
type Answer = { status: number; body: any }

async function post(parts: readonly Part[], path = '/contacts/import'): Promise<Answer> {
  const form = new FormData()
  for (const [name, value, filename] of parts) {
    if (typeof value === 'string') form.append(name, value)
    else form.append(name, value, filename)
  }
  return answer(await fetch(service.url + path, { method: 'POST', body: form, headers: key() }))
}

async function get(path: string, by = mine): Promise<Answer> {
  return answer(await fetch(service.url + path, { headers: key(by) }))
}

async function answer(response: Response): Promise<Answer> {
  return { status: response.status, body: await response.json() }
}

const key = (by = mine) => ({ authorization: `Bearer ${by.secret}` })

/** Runs queued jobs until this one has ended. */
async function finished(path: string): Promise<Answer> {
  const { core } = service
  const { handlers, limits } = createSchedule(core)
  const loop = startJobs({ store: core.store, log: core.log, now: core.now, handlers, limits })
  try {
    for (;;) {
      const status = await get(path)
      if (['completed', 'failed'].includes(status.body.state)) return status
    }
  } finally {
    await loop.stop(1000)
  }
}

async function assertNothingLeft(what: string): Promise<void> {
  const { read } = service.core.store
  assert.equal(await read.$count(importChunks), 0, `${what}: chunks`)
  assert.equal(await read.$count(jobs), 0, `${what}: jobs`)
}

test('a file is accepted, and its job shows the result', async () => {
  const { status, body } = await post([file])
  assert.equal(status, 202)
  assert.match(body.jobId, new RegExp(`^import-${mine.id}-\\d+$`))
  assert.equal(typeof body.message, 'string')
  const path = `/contacts/import/${body.jobId}`
  const waiting = await get(path)
  assert.deepEqual(
    [waiting.body.state, waiting.body.progress, waiting.body.result],
    ['waiting', 0, null],
  )
  assert.deepEqual(waiting.body.data, {
    filename: 'people.csv',
    sizeBytes: people.length,
    mapping: {},
    types: 'values',
    subscribed: true,
    resubscribe: false,
    dryRun: false,
  })
  const done = await finished(path)
  assert.deepEqual([done.body.state, done.body.progress], ['completed', 100])
  assert.equal(done.body.result.createdCount, 1)
  assert.doesNotMatch(JSON.stringify(done.body), /ada@dest/)
  assert.equal(await service.core.store.read.$count(importChunks), 0)
})

test('the job is visible to its project only, and not as a suppression import', async () => {
  const { body } = await post([file])
  for (const status of [
    await get(`/contacts/import/${body.jobId}`, other),
    await get(`/suppressions/import/${body.jobId}`),
    await get('/contacts/import/import-none-1'),
  ]) {
    assert.equal(status.status, 404)
    assert.equal(status.body.error.code, 'RESOURCE_NOT_FOUND')
  }
})

test('fields may stand before and after the file', async () => {
  const mapping: Part = ['mapping', '{"Mail ":"email","tarif":"Plan","note":null}']
  const given = csv('Mail;Tarif;Note\na@dest.test;5;x\n')
  const { body } = await post([
    mapping,
    ['file', given, 'a.csv'],
    ['types', 'strings'],
    ['subscribed', 'false'],
  ])
  const { body: done } = await finished(`/contacts/import/${body.jobId}`)
  assert.deepEqual(done.data.mapping, { mail: 'email', tarif: 'Plan', note: null })
  const [contact] = await service.core.store.read.select().from(contacts).all()
  assert.deepEqual([contact?.data, contact?.subscribed], [{ Plan: '5' }, false])
})

test('a CSV file is recognized by its type or by its name', async () => {
  const good: Part[] = [
    ['file', csv(people), 'people.txt'],
    ['file', csv(people, 'application/vnd.ms-excel'), 'PEOPLE.CSV'],
    ['file', csv(people, 'text/csv; charset=utf-8'), 'blob'],
  ]
  for (const part of good) assert.equal((await post([part])).status, 202)
})

test('a file without an email column is a failed job with the reason', async () => {
  const { body } = await post([['file', csv('name\nAda\n'), 'a.csv']])
  const done = await finished(`/contacts/import/${body.jobId}`)
  assert.equal(done.body.state, 'failed')
  assert.match(done.body.failedReason, /no column "email"/)
  assert.equal(done.body.result, null)
})

test('an archive and a workbook are refused, with what to do', async () => {
  const bytes = Buffer.from('PK\x03\x04\x14\x00\x00\x00\x08\x00abc')
  const named = await post([['file', csv(bytes, 'application/zip'), 'export.ZIP']])
  assert.equal(named.status, 422)
  assert.match(named.body.error.errors[0].message, /unpack the archive/)
  const { body } = await post([['file', csv(bytes), 'people.csv']])
  const done = await finished(`/contacts/import/${body.jobId}`)
  assert.match(done.body.failedReason, /ZIP archive or a workbook.+: unpack the archive, or save/)
})

test('addresses to suppress are imported in the same way', async () => {
  const list = csv('email,reason\na@dest.test,spam\nb@dest.test,\n')
  const { status, body } = await post([['file', list, 'left.csv']], '/suppressions/import')
  assert.equal(status, 202)
  assert.match(body.jobId, new RegExp(`^suppressions-import-${mine.id}-\\d+$`))
  const done = await finished(`/suppressions/import/${body.jobId}`)
  assert.deepEqual([done.body.result.addedCount, done.body.result.successCount], [2, 2])
  assert.equal(await service.core.store.read.$count(suppressions), 2)
})

test('unknown text fields are ignored and named', async () => {
  const { status, body } = await post([['colour', 'red'], file, ['csrf_token', 'x'.repeat(1000)]])
  assert.equal(status, 202)
  const { failureCount, unknownFields } = (await finished(`/contacts/import/${body.jobId}`)).body
    .result
  assert.equal(failureCount, 0)
  assert.deepEqual(
    unknownFields.map(({ field }: { field: string }) => field),
    ['colour', 'csrf_token'],
  )
  assert.deepEqual(body.warnings, unknownFields)
})

for (const path of ['/contacts/import', '/suppressions/import']) {
  test(`a dry run of ${path} counts and changes nothing`, async () => {
    const { body } = await post([['dryRun', 'true'], file], path)
    const done = (await finished(`${path}/${body.jobId}`)).body
    assert.deepEqual(
      [done.state, done.data.dryRun, done.result.createdCount],
      [...['completed', true, 1]],
    )
    const { read } = service.core.store
    assert.equal((await read.$count(contacts)) + (await read.$count(suppressions)), 0)
  })
}

test('the result of an import says who became subscribed, by which words', async () => {
  const text = 'email,status\nada@dest.test,active\nbob@dest.test,unsubscribed\n'
  const { body } = await post([['file', csv(text), 'people.csv']])
  const { result } = (await finished(`/contacts/import/${body.jobId}`)).body
  assert.deepEqual([result.subscribedCount, result.unsubscribedCount], [1, 1])
  assert.deepEqual(result.subscriptionWords, [
    { column: 'status', word: 'active', rows: 1, readAs: 'unchanged' },
    { column: 'status', word: 'unsubscribed', rows: 1, readAs: 'unsubscribed' },
  ])
})

test('the form subscribes existing contacts only with subscribed=true and resubscribe=true', async () => {
  const off: Part = ['file', csv('email,subscribed\nada@dest.test,no\n'), 'off.csv']
  const forms: [parts: Part[], isSubscribed: boolean][] = [
    [[file], false],
    [[file, ['subscribed', 'true']], false],
    [[file, ['resubscribe', 'true']], false],
    [[file, ['resubscribe', 'true'], ['subscribed', 'false']], false],
    [[file, ['resubscribe', 'true'], ['subscribed', 'true']], true],
  ]
  for (const [parts, isSubscribed] of [[[off], false] as const, ...forms]) {
    const { body } = await post(parts)
    await finished(`/contacts/import/${body.jobId}`)
    const [contact] = await service.core.store.read.select().from(contacts).all()
    assert.equal(contact?.subscribed, isSubscribed, JSON.stringify(parts.slice(1)))
  }
})

const five = 5 * 1024 * 1024
const big = 'email\n'.padEnd(five, 'x')

const refused: [name: string, parts: Part[], status: number, field: string][] = [
  ['no file', [['types', 'strings']], 422, 'file'],
  ['nothing at all', [], 422, 'file'],
  ['a file that is text', [['file', people]], 422, 'file'],
  ['a file of another type', [['file', csv(people, 'image/png'), 'a.png']], 422, 'file'],
  ['two files', [file, file], 422, 'file'],
  ['a file under another name', [file, ['csv', csv(people), 'b.csv']], 422, 'csv'],
  ['a field that stands twice', [['types', 'strings'], file, ['types', 'values']], 422, 'types'],
  ['a misspelt dry run', [file, ['dry_run', 'true']], 422, 'dry_run'],
  ['another name of a dry run', [file, ['dry', 'true']], 422, 'dry'],
  ['a misspelt state', [file, ['subscribe', 'false']], 422, 'subscribe'],
  ['a dry run that is neither', [file, ['dryRun', 'yes']], 422, 'dryRun'],
  ['a mapping that is a file', [['mapping', csv('{}'), 'm.csv'], file], 422, 'mapping'],
  ['a mapping that is no JSON', [file, ['mapping', '{plan']], 422, 'mapping'],
  ['a mapping that is a list', [file, ['mapping', '["email"]']], 422, 'mapping'],
  ['a mapping to a number', [file, ['mapping', '{"plan":5}']], 422, 'mapping.plan'],
  [
    'a mapping deeper than the stack',
    [file, ['mapping', `{"plan":${'['.repeat(100_000)}${']'.repeat(100_000)}}`]],
    ...([422, 'mapping.plan'] as const),
  ],
  ['a mapping to what nobody can set', [file, ['mapping', '{"plan":"id"}']], 422, 'mapping.plan'],
  ['a mapping that is too long', [file, ['mapping', ' '.repeat(300_000)]], 422, 'mapping'],
  ['types that do not exist', [file, ['types', 'guess']], 422, 'types'],
  ['subscribed that is no truth value', [file, ['subscribed', 'maybe']], 422, 'subscribed'],
  ['a file that is too large', [['file', csv(`${big}x`), 'a.csv']], 413, ''],
  ['more parts than there may be', Array.from({ length: 30 }, () => file), 400, ''],
]

for (const [name, parts, status, field] of refused) {
  test(`a form with ${name} is refused and leaves nothing`, async () => {
    const answer = await post(parts)
    assert.equal(answer.status, status, JSON.stringify(answer.body))
    const { code, errors = [] } = answer.body.error
    assert.equal(code, status === 413 ? 'PAYLOAD_TOO_LARGE' : 'VALIDATION_ERROR')
    if (status === 413) {
      const { suggestion, details } = answer.body.error
      assert.equal(suggestion, 'At most 5 MB: split it, each part with the header row.')
      assert.deepEqual(details, { maxBytes: 5 * 1024 * 1024 })
    }
    if (field !== '') {
      const fields = errors.map((error: { field: string }) => error.field)
      assert.ok(fields.includes(field), `${field} is none of ${fields}`)
    }
    await assertNothingLeft(name)
  })
}

test('a file of exactly 5 MB is accepted and stored in pieces', async () => {
  const { status } = await post([['file', csv(big), 'a.csv']])
  assert.equal(status, 202)
  const chunks = await service.core.store.read.select().from(importChunks).all()
  assert.equal(
    chunks.reduce((sum, { bytes }) => sum + bytes.length, 0),
    five,
  )
  assert.ok(chunks.every(({ bytes }) => bytes.length <= 2 * 64 * 1024))
  assert.ok((service.requests.at(-1)?.requestSizeBytes ?? 0) > five)
})

test('a project with twenty unfinished imports waits, and the next file leaves nothing', async () => {
  const { store, now } = service.core
  for (let count = 0; count < 20; count += 1) {
    const job = { prefix: 'import', kind: 'import', projectId: mine.id, payload: {}, now: now() }
    await store.write((tx) => enqueueForProject(tx, job))
  }
  const answer = await post([['file', csv(big), 'a.csv']])
  assert.equal(answer.status, 409)
  assert.equal(answer.body.error.code, 'CONFLICT')
  assert.match(answer.body.error.message, /20 unfinished jobs of the kind "import"/)
  assert.equal(await store.read.$count(importChunks), 0)
  assert.equal(await store.read.$count(jobs), 20)
  assert.equal((await post([['file', csv(people), 'a.csv']], '/suppressions/import')).status, 202)
})

test('a file name with folders is only a name and never a path', async () => {
  const { body } = await post([['file', csv(people), '../../etc/cron.d/people.csv']])
  const { body: status } = await get(`/contacts/import/${body.jobId}`)
  assert.equal(status.data.filename, 'people.csv')
})

test('a caller without permission to import is refused before the body is read', async () => {
  const body = new FormData()
  body.append('file', csv(people), 'a.csv')
  const headers = { authorization: `Bearer ${mine.public}` }
  const response = await fetch(`${service.url}/contacts/import`, { method: 'POST', body, headers })
  assert.equal(response.status, 401)
  await assertNothingLeft('a public key')
})

const head = (type: string, length: number, more = '') =>
  `POST /contacts/import HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${mine.secret}\r\n` +
  `Content-Type: ${type}\r\nContent-Length: ${length}\r\n${more}Connection: close\r\n\r\n`

/** Sends these bytes and returns the response, once the server has closed the connection. */
function raw(bytes: Buffer): Promise<{ status: number; code: string | undefined }> {
  const port = Number(new URL(service.url).port)
  return new Promise((resolve, reject) => {
    let text = ''
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
    socket.setEncoding('latin1').on('data', (piece) => {
      text += piece
      // The server waits for the rest of a body until the client ends the connection.
      if (text.includes('"timestamp"')) socket.end()
    })
    socket.on('error', reject).on('close', () => {
      const status = Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1])
      resolve({ status, code: /"code":"(\w+)"/.exec(text)?.[1] })
    })
  })
}

const part = (disposition: string, body: string, more = '') =>
  `--B\r\nContent-Disposition: form-data; ${disposition}\r\n${more}\r\n${body}\r\n`
const filePart = part('name="file"; filename="a.csv"', people)
const whole = `${filePart}${part('name="types"', 'strings')}--B--\r\n`

function formed(body: string, type = 'multipart/form-data; boundary=B'): Buffer {
  return Buffer.from(head(type, Buffer.byteLength(body)) + body)
}

const malformed: [name: string, request: () => Buffer, status: number][] = [
  ['no boundary', () => formed(whole, 'multipart/form-data'), 400],
  ['JSON', () => formed('{"file":"x"}', 'application/json'), 400],
  ['a form of the other kind', () => formed('file=x', 'application/x-www-form-urlencoded'), 400],
  ['another boundary', () => formed(whole, 'multipart/form-data; boundary=C'), 400],
  ['no body', () => formed(''), 400],
  ['a file without an end', () => formed(filePart.slice(0, -10)), 400],
  ['no closing boundary', () => formed(filePart), 400],
  ['a part that is all header', () => formed('--B\r\nContent-Disposition: form-data'), 400],
  ['parts without names', () => formed('--B\r\n\r\nx\r\n--B--\r\n'), 422],
  [
    'a Content-Length above the limit',
    () => Buffer.from(head('multipart/form-data; boundary=B', 9e9)),
    413,
  ],
]

for (const [name, request, status] of malformed) {
  test(`a request with ${name} is refused and leaves nothing`, async () => {
    const answer = await raw(request())
    assert.deepEqual(answer, {
      status,
      code: status === 413 ? 'PAYLOAD_TOO_LARGE' : 'VALIDATION_ERROR',
    })
    await assertNothingLeft(name)
  })
}

test('text around a form is ignored', async () => {
  assert.equal((await raw(formed(`preamble\r\n${whole}epilogue`))).status, 202)
})

test('a form that arrives byte by byte and without a length is read the same', async () => {
  const chunked = [...Buffer.from(whole)].map((byte) => `1\r\n${String.fromCharCode(byte)}\r\n`)
  const type = 'multipart/form-data; boundary=B'
  const top = head(type, 0).replace(/Content-Length: 0/, 'Transfer-Encoding: chunked')
  assert.equal((await raw(Buffer.from(`${top}${chunked.join('')}0\r\n\r\n`))).status, 202)
})

test('a body without a length is refused as soon as it exceeds the limit', async () => {
  const type = 'multipart/form-data; boundary=B'
  const top = head(type, 0).replace(/Content-Length: 0/, 'Transfer-Encoding: chunked')
  const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`
  const start = filePart.slice(0, -2)
  const opening = `${start.length.toString(16)}\r\n${start}\r\n`
  const answer = await raw(Buffer.from(`${top}${opening}${chunk.repeat(100)}`))
  assert.deepEqual(answer, { status: 413, code: 'PAYLOAD_TOO_LARGE' })
  await assertNothingLeft('too large')
})

test('an upload that is cut off leaves nothing', async () => {
  const port = Number(new URL(service.url).port)
  const socket = connect(port, '127.0.0.1')
  socket.write(head('multipart/form-data; boundary=B', 1_000_000) + filePart.slice(0, -2))
  socket.write('x'.repeat(300_000))
  const count = () => service.core.store.read.$count(importChunks)
  while ((await count()) < 2) await pause()
  socket.destroy()
  while ((await count()) > 0) await pause()
  await assertNothingLeft('broken off')
})

/** Another service with an upload of which some has been kept and the rest is to come. */
async function beginUpload(t: TestContext) {
  const stopping = await startService()
  t.after(() => stopping.stop())
  const { secret } = await stopping.makeProject('stopping')
  const socket = connect(Number(new URL(stopping.url).port), '127.0.0.1')
  const top = head('multipart/form-data; boundary=B', 1_000_000)
  socket.write(top.replace(mine.secret, secret) + filePart.slice(0, -2))
  socket.write('x'.repeat(300_000))
  const { read } = stopping.core.store
  const count = () => read.$count(importChunks)
  while ((await count()) < 2) await pause()
  return { stopping, socket, count }
}

test('a running upload is refused when the server stops, and leaves nothing', async (t) => {
  const { stopping, socket, count } = await beginUpload(t)
  const answered = once(socket, 'data')
  await stopping.stopHttp(60_000)
  const text = String((await answered)[0])
  assert.match(text, /^HTTP\/1\.1 503 /)
  assert.match(text, /^retry-after: 5\r$/m)
  assert.match(text, /^connection: close\r$/m)
  assert.match(text, /Nothing was accepted/)
  assert.equal(await count(), 0)
  assert.equal(await stopping.core.store.read.$count(jobs), 0)
})

test('a stop waits for the cleanup of an upload that was cut off', async (t) => {
  const { stopping, socket, count } = await beginUpload(t)
  socket.destroy()
  await once(socket, 'close')
  await stopping.stopHttp(60_000)
  assert.equal(await count(), 0)
})

test('any damaged form gets a response, and a refused one leaves nothing', async () => {
  const edit = fc.tuple(
    fc.constantFrom('cut', 'replace', 'insert'),
    fc.nat(whole.length),
    fc.constantFrom('\r\n', '--B', '--', '"', ';', '\0', 'filename="b.csv"', '\r\n\r\n', 'é'),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 3 }), async (edits) => {
      let body = whole
      for (const [how, at, text] of edits) {
        if (how === 'cut') body = body.slice(0, at)
        else body = body.slice(0, at) + text + body.slice(how === 'insert' ? at : at + text.length)
      }
      const { status } = await raw(formed(body))
      assert.ok([202, 400, 422].includes(status), `${status} for ${JSON.stringify(body)}`)
      if (status !== 202) await assertNothingLeft(body)
      await service.core.store.write(async (tx) => {
        for (const table of [importChunks, jobs]) await tx.delete(table).run()
      })
    }),
    { numRuns: 100 },
  )
})

test('a field of a form that nothing reads is named in the answer, and refused with Prefer', async () => {
  const { status, body } = await post([['typs', 'strings'], file])
  assert.equal(status, 202)
  const message = 'There is no such field, so it was ignored; did you mean types?'
  assert.deepEqual(body.warnings, [{ field: 'typs', message, suggestion: 'types' }])
  const form = new FormData()
  form.append('typs', 'strings')
  form.append('file', csv(people), 'people.csv')
  const headers = { ...key(), prefer: 'handling=strict' }
  const refused = await answer(
    await fetch(`${service.url}/contacts/import`, { method: 'POST', body: form, headers }),
  )
  const { field, code } = refused.body.error.errors[0]
  assert.deepEqual([refused.status, field, code], [422, 'typs', 'unrecognized'])
  const misspelt = await post([['maping', '{"state":"subscribed"}'], file])
  assert.deepEqual([misspelt.status, misspelt.body.error.errors[0].field], [422, 'maping'])
  assert.equal(await service.core.store.read.$count(jobs), 1)
})
