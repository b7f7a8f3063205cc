import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test } from 'node:test'
import { upsertContacts } from '../../../../src/features/people/contacts/write/upsert.ts'
import { address } from '../../../core.ts'
import { pause } from '../../../pause.ts'
import { useService } from '../../service.ts'

const PEOPLE = 3000

const { service, mine, other } = useService({}, addPeople)

async function addPeople(): Promise<void> {
  const { store, now } = service.core
  const change = {
    projectId: mine.id,
    subscribed: true,
    subscribedByDefault: true,
    at: now(),
    reason: 'api' as const,
  }
  for (let at = 0; at < PEOPLE; at += 500) {
    const entries = Array.from({ length: 500 }, (_, index) => ({
      address: address(`p${at + index}@dest.test`),
      changes: { number: at + index, note: 'x'.repeat(2000) },
    }))
    await store.write((tx) => upsertContacts(tx, change, entries))
  }
}

test('a misspelt filter is refused, and nothing is exported', async () => {
  const response = await get('?segmentid=1')
  assert.equal(response.status, 422)
  assert.match(await response.text(), /unrecognized/)
})

const headers = (by = mine) => ({ authorization: `Bearer ${by.secret}` })
/** Not compressed, so that lengths can be compared. */
const get = (query: string, by = mine) =>
  fetch(`${service.url}/contacts/export${query}`, {
    headers: { ...headers(by), 'accept-encoding': 'identity' },
  })

test('all contacts are exported as one file, in pieces', async () => {
  const response = await get('')
  assert.equal(response.status, 200)
  assert.equal(response.headers.get('content-type'), 'text/csv; charset=utf-8')
  assert.match(
    response.headers.get('content-disposition') ?? '',
    /^attachment; filename="contacts-\d{4}-\d\d-\d\d\.csv"$/,
  )
  assert.equal(response.headers.get('content-length'), null)
  const text = await response.text()
  const lines = text.split('\r\n')
  assert.equal(lines[0], 'id,email,subscribed,createdAt,updatedAt,data.note,data.number')
  assert.equal(lines.length, PEOPLE + 2)
  assert.match(lines.at(-2) ?? '', new RegExp(`,p${PEOPLE - 1}@dest\\.test,.*,${PEOPLE - 1}$`))
  const entry = service.requests.at(-1)
  assert.equal(entry?.path, '/contacts/export')
  assert.equal(entry?.responseSizeBytes, Buffer.byteLength(text))
})

test('a query selects the contacts', async () => {
  const filters = [{ field: 'data.number', operator: 'lessThan', value: 3 }]
  const filter = encodeURIComponent(JSON.stringify({ logic: 'AND', groups: [{ filters }] }))
  const lines = (await (await get(`?filter=${filter}&search=P2&subscribed=true`)).text()).split(
    '\r\n',
  )
  assert.equal(lines.length, 3)
  assert.match(lines[1] ?? '', /p2@dest\.test/)
  assert.equal((await (await get('?subscribed=false')).text()).split('\r\n').length, 2)
  const strangers = await (await get('', other)).text()
  assert.equal(strangers, 'id,email,subscribed,createdAt,updatedAt\r\n')
})

test('a segment selects its contacts', async () => {
  const groups = [{ filters: [{ field: 'data.number', operator: 'equals', value: 7 }] }]
  const body = JSON.stringify({ name: 'Seven', condition: { logic: 'AND', groups } })
  const type = { 'content-type': 'application/json' }
  const made = await fetch(`${service.url}/segments`, {
    method: 'POST',
    headers: { ...headers(), ...type },
    body,
  })
  const { id } = (await made.json()) as { id: string }
  const lines = (await (await get(`?segmentId=${id}`)).text()).split('\r\n')
  assert.equal(lines.length, 3)
  assert.match(lines[1] ?? '', /p7@dest\.test/)
  const foreign = await get(`?segmentId=${id}`, other)
  assert.equal(foreign.status, 404)
})

const wrong: [query: string, field: string][] = [
  ['?filter=nonsense', 'filter'],
  ['?filter=%7B%7D', 'filter'],
  ['?segmentId=1', 'segmentId'],
  ['?subscribed=maybe', 'subscribed'],
  [`?search=${'x'.repeat(300)}`, 'search'],
]

for (const [query, field] of wrong) {
  test(`an export with ${query.slice(0, 30)} is refused`, async () => {
    const response = await get(query)
    assert.equal(response.status, 422)
    const { error } = (await response.json()) as { error: { errors: { field: string }[] } }
    assert.ok(error.errors.some((each) => each.field.startsWith(field)))
  })
}

test('an export ends without an error when its client disconnects', async () => {
  const { length: before } = service.requests
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
  const { authorization } = headers()
  socket.write(
    `GET /contacts/export HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\n\r\n`,
  )
  await new Promise((resolve) => socket.once('data', resolve))
  socket.destroy()
  while (service.requests.length === before) await pause()
  const entry = service.requests.at(-1)
  assert.equal(entry?.errorCode, null)
  assert.equal(entry?.statusCode, 200)
})

/** No page is read until `free` is called. */
function holdPages() {
  const { store } = service.core
  const { scan } = store
  const { promise: isFree, resolve: free } = Promise.withResolvers<void>()
  let asked = 0
  const values = async (query: Parameters<typeof scan.values>[0]) => {
    asked += 1
    await isFree
    return scan.values(query)
  }
  Object.assign(store, { scan: { values, list: scan.list.bind(scan) } })
  return {
    asked: () => asked,
    free: () => {
      Object.assign(store, { scan })
      free()
    },
  }
}

test('a third export of a project is refused until one ends', async () => {
  const pages = holdPages()
  const open = await Promise.all([get(''), get('')])
  assert.deepEqual(
    open.map(({ status }) => status),
    [200, 200],
  )
  const refused = await get('?segmentId=01a1fdce-1230-766e-8336-ef84412dae6e')
  assert.equal(refused.status, 429)
  assert.equal(refused.headers.get('retry-after'), '10')
  const { error } = (await refused.json()) as { error: { code: string; details: object } }
  assert.equal(error.code, 'RATE_LIMIT_EXCEEDED')
  assert.deepEqual(error.details, { limit: 2, retryAfter: 10 })
  const others = await get('', other)
  assert.equal(others.status, 200)
  pages.free()
  for (const response of [...open, others]) await response.text()
  const next = await get('')
  assert.equal(next.status, 200)
  await next.text()
})

test('a disconnected client and a HEAD request hold no slot', async () => {
  const pages = holdPages()
  const { authorization } = headers()
  for (const method of ['HEAD', 'HEAD', 'HEAD']) {
    const head = await fetch(`${service.url}/contacts/export`, { method, headers: headers() })
    assert.equal(head.status, 200)
  }
  const { length: before } = service.requests
  const sockets = [1, 2].map(() => connect(Number(new URL(service.url).port), '127.0.0.1'))
  for (const socket of sockets) {
    socket.write(
      `GET /contacts/export HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\n\r\n`,
    )
    await new Promise((resolve) => socket.once('data', resolve))
  }
  while (pages.asked() < 2) await pause()
  for (const socket of sockets) socket.destroy()
  while (service.requests.length < before + 2) await pause()
  // The pages that were asked for are still being read.
  assert.equal((await get('')).status, 429)
  pages.free()
  let response = await get('')
  while (response.status === 429) response = await get('')
  assert.equal(response.status, 200)
  await response.text()
})

test('an export that fails closes the connection, so that half a file is not taken for a whole one', async () => {
  const { store } = service.core
  const { scan } = store
  let queries = 0
  const values = (query: Parameters<typeof scan.values>[0]) => {
    queries += 1
    if (queries > 3) throw new Error('the disk is gone')
    return scan.values(query)
  }
  Object.assign(store, { scan: { values, list: scan.list.bind(scan) } })
  try {
    const response = await get('')
    assert.equal(response.status, 200)
    await assert.rejects(response.text())
  } finally {
    Object.assign(store, { scan })
  }
  assert.equal(service.requests.at(-1)?.errorCode, 'INTERNAL_SERVER_ERROR')
})
