import assert from 'node:assert/strict'
import { test } from 'node:test'
import { suppress } from '../../../../src/features/mail/messages/outcome/suppression.ts'
import { importContacts } from '../../../../src/features/people/import-export/import-contacts.ts'
import type { ImportPayload } from '../../../../src/features/people/import-export/import-file.ts'
import { readRows } from '../../../../src/features/people/import-export/read-rows.ts'
import { scanFile } from '../../../../src/features/people/import-export/scan.ts'
import { FinalFailure } from '../../../../src/work/jobs/run.ts'
import { subscriptionEvents } from '../contacts/add-recipient.ts'
import {
  claim,
  countChunks,
  countTurns,
  subscriptionChanges,
  uploadFile,
  useImports,
} from './run-import.ts'

test('rows become contacts, and the form of the values of a column decides their type', async (t) => {
  const { run, people, core } = await useImports(t)
  const result = await run(
    'Email,Age,VIP,Since,Note\n ADA@dest.test ,36,yes,2024-01-31,"two\nlines"\nbob@dest.test,,no,,\n',
  )
  assert.deepEqual(result, {
    totalRows: 2,
    successCount: 2,
    createdCount: 2,
    updatedCount: 0,
    keptUnsubscribedCount: 0,
    failureCount: 0,
    errors: [],
    warnings: [],
    columns: [
      { field: 'data.age', type: 'number', reason: null },
      { field: 'data.vip', type: 'boolean', reason: null },
      { field: 'data.since', type: 'text', reason: null },
      { field: 'data.note', type: 'text', reason: null },
    ],
    damage: { guessedRows: 0, replacedCharacters: 0, droppedCells: 0, cutFields: 0 },
    unknownFields: [],
    subscribedCount: 2,
    unsubscribedCount: 0,
    subscriptionWords: [],
  })
  assert.deepEqual(await people(), [
    {
      address: 'ada@dest.test',
      subscribed: true,
      data: { age: 36, vip: true, since: '2024-01-31', note: 'two\nlines' },
    },
    { address: 'bob@dest.test', subscribed: true, data: { vip: false } },
  ])
  assert.equal(await countChunks(core), 0)
})

test('every value is a text on request, and a locale always', async (t) => {
  const { run, people } = await useImports(t)
  await run('email,age,locale\nb@dest.test,36,no\n')
  await run('email,age,locale\na@dest.test,36,no\n', { areStrings: true })
  assert.deepEqual(
    (await people()).map(({ data }) => data),
    [
      { age: 36, locale: 'no' },
      { age: '36', locale: 'no' },
    ],
  )
})

test('a filled cell sets subscribed, and each change emits one event', async (t) => {
  const { run, people, core } = await useImports(t)
  const first = 'email,subscribed\na@dest.test,1\nb@dest.test,YES\nc@dest.test,nope\nd@dest.test,\n'
  await run(first, { subscribed: false })
  const states = async () => (await people()).map(({ subscribed }) => subscribed)
  assert.deepEqual(await states(), [true, true, false, false])
  assert.deepEqual(await subscriptionEvents(core), [], 'new contacts emit nothing')
  await run('email,subscribed\na@dest.test,\nb@dest.test,0\nc@dest.test,true\nd@dest.test,\n')
  assert.deepEqual(await states(), [true, false, true, false])
  assert.deepEqual(await subscriptionChanges(core), [
    ['contact.unsubscribed', { reason: 'import' }],
    ['contact.subscribed', { reason: 'import' }],
  ])
})

test('empty cells change nothing, other cells are merged, reserved keys are dropped', async (t) => {
  const { run, people } = await useImports(t)
  await run('email,plan,city,id\na@dest.test,pro,Oslo,7\n')
  const again = await run('email,plan,city,seats\na@dest.test,,Bergen,3\n')
  assert.deepEqual([again.createdCount, again.updatedCount], [0, 1])
  const [ada] = await people()
  assert.deepEqual(ada?.data, { plan: 'pro', city: 'Bergen', seats: 3 })
})

test('an address that occurs twice is one contact, and the later row wins', async (t) => {
  const { run, people } = await useImports(t)
  const result = await run('email,plan,city\na@dest.test,free,Oslo\nA@DEST.test,pro,\n')
  assert.deepEqual([result.createdCount, result.updatedCount], [1, 1])
  assert.deepEqual((await people())[0]?.data, { plan: 'pro', city: 'Oslo' })
})

test('a new contact with a suppressed address is not subscribed by default', async (t) => {
  const { run, people, core, projectId } = await useImports(t)
  const entry = { projectId, address: 'a@dest.test', source: 'test', emailId: null, at: 1 }
  await core.store.write((tx) => suppress(tx, { ...entry, reason: 'COMPLAINT' }))
  await run('email\na@dest.test\nb@dest.test\n')
  assert.deepEqual(
    (await people()).map(({ subscribed }) => subscribed),
    [false, true],
  )
})

test('an invalid row is listed with row, line and reason, and affects no other row', async (t) => {
  const { run, people } = await useImports(t)
  const rows = [
    'email,note,data.locale',
    'a@dest.test,"one',
    'two",en',
    '',
    'nobody,x,',
    ',only a note,',
    ',,,,',
    `b@dest.test,${'x'.repeat(70_000)},`,
    'c@dest.test,last,de,too many,fields',
    'd@dest.test',
  ]
  const result = await run(rows.join('\r\n'))
  assert.deepEqual(result.errors, [
    { row: 3, line: 5, email: 'nobody', error: 'Not an email address' },
    { row: 4, line: 6, email: '', error: 'There is no email address' },
    {
      row: 5,
      line: 8,
      email: 'b@dest.test',
      error: 'The data would be larger than 65536 bytes of JSON',
    },
  ])
  assert.deepEqual([result.totalRows, result.successCount, result.failureCount], [6, 3, 3])
  assert.deepEqual(
    (await people()).map(({ address }) => address),
    ['a@dest.test', 'c@dest.test', 'd@dest.test'],
  )
})

test('a row that would make its contact too large changes nothing and affects no other row', async (t) => {
  const { run, people } = await useImports(t)
  const half = 'x'.repeat(40_000)
  await run(`email,first\na@dest.test,${half}\n`)
  const rows = ['b@dest.test,1,', `a@dest.test,2,${half}`, 'a@dest.test,3,', 'c@dest.test,4,']
  const result = await run(`email,n,second\n${rows.join('\n')}\n`)
  assert.deepEqual(result.errors, [
    {
      row: 3,
      line: 3,
      email: 'a@dest.test',
      error: 'The data of the contact would be larger than 65536 bytes of JSON',
    },
  ])
  assert.deepEqual([result.createdCount, result.updatedCount, result.failureCount], [2, 1, 1])
  assert.deepEqual(
    (await people()).map(({ address, data }) => [address, data]),
    [
      ['a@dest.test', { first: half, n: 3 }],
      ['b@dest.test', { n: 1 }],
      ['c@dest.test', { n: 4 }],
    ],
  )
})

test('a column with an invalid key is an error of the rows that use it', async (t) => {
  const { run, people } = await useImports(t)
  const long = 'k'.repeat(256)
  const rows = [`email,"a\0b",${long}`, 'a@dest.test,1,', 'b@dest.test,,2', 'c@dest.test,,']
  const result = await run(rows.join('\n'))
  assert.deepEqual(
    result.errors.map(({ email, error }) => [email, error]),
    [
      ['a@dest.test', 'data.a\0b: A key must not have control or broken characters'],
      ['b@dest.test', `data.${long.slice(0, 60)}…: A key must be at most 255 characters long`],
    ],
  )
  assert.deepEqual(
    (await people()).map(({ address }) => address),
    ['c@dest.test'],
  )
})

test('data that becomes too large in the merge is an error of its row only', async (t) => {
  const { run, people } = await useImports(t)
  const half = 'x'.repeat(40_000)
  await run(`email,one\na@dest.test,${half}\n`)
  const result = await run(`email,two,city\na@dest.test,${half},Oslo\nb@dest.test,${half},Bergen\n`)
  assert.equal(result.failureCount, 1)
  assert.match(result.errors[0]?.error ?? '', /data of the contact would be larger/)
  assert.deepEqual(Object.keys((await people())[0]?.data ?? {}), ['one'])
  assert.equal((await people()).length, 2)
})

for (const [kind, name] of [
  ['plain', 'a'],
  ['with escapes', '\\u0061\\\\'],
] as const) {
  test(`a cell of JSON deeper than the stack, ${kind}, is an error of its row only`, async (t) => {
    const { run, people } = await useImports(t)
    await run('email\nleft@dest.test\n')
    const deep = `{""${name}"":${'['.repeat(12_000)}${']'.repeat(12_000)}}`
    const file = `email,unsubscribed,attributes\na@dest.test,,"${deep}"\nleft@dest.test,yes,\n`
    const dry = await run(file, { dryRun: true })
    assert.deepEqual(await run(file), dry)
    assert.match(dry.errors[0]?.error ?? '', /^data\..+: Nested more than 20 levels deep$/)
    assert.deepEqual([dry.failureCount, dry.unsubscribedCount], [1, 1])
    const left = { address: 'left@dest.test', subscribed: false, data: { unsubscribed: true } }
    assert.deepEqual(await people(), [left])
  })
}

test('the first thousand invalid rows are listed, and all are counted', async (t) => {
  const { run } = await useImports(t)
  const { errors, failureCount } = await run(`email\n${'nobody\n'.repeat(1500)}`)
  assert.equal(failureCount, 1500)
  assert.equal(errors.length, 1000)
  assert.equal(errors.at(-1)?.row, 1001)
})

test('byte order marks, UTF-16, semicolons and old encodings are recognized', async (t) => {
  const { run, people } = await useImports(t)
  const text = 'email;name\nzoe@dest.test;Zoë €\n'
  const files = [
    Buffer.from(`\ufeff${text}`),
    Buffer.from(`\ufeff${text}`, 'utf16le'),
    Buffer.from(`\ufeff${text}`, 'utf16le').swap16(),
    Buffer.from(text.replace('ë', '\xeb').replace('€', '\x80'), 'latin1'),
    Buffer.from(`sep=;\r\n${text}`),
  ]
  for (const [index, file] of files.entries()) {
    const result = await run(file)
    assert.deepEqual([result.totalRows, result.successCount], [1, 1], `file ${index}`)
    assert.deepEqual((await people())[0]?.data, { name: 'Zoë €' }, `file ${index}`)
  }
})

test('the first cell that is not empty counts among columns of the same name', async (t) => {
  const { run, people } = await useImports(t)
  const result = await run('email,plan,Plan,email\na@dest.test,,pro,\n,free,team,b@dest.test\n')
  assert.deepEqual(
    (await people()).map(({ address, data }) => [address, data]),
    [
      ['a@dest.test', { plan: 'pro' }],
      ['b@dest.test', { plan: 'free' }],
    ],
  )
  assert.equal(result.warnings.length, 2)
})

test('names of prototypes are ordinary keys', async (t) => {
  const { run, people } = await useImports(t)
  await run('email,__proto__,constructor\na@dest.test,x,y\n')
  const [row] = await people()
  assert.deepEqual(Object.entries(row?.data ?? {}).sort(), [
    ['__proto__', 'x'],
    ['constructor', 'y'],
  ])
  assert.equal(Object.getPrototypeOf({}), Object.prototype)
})

const hopeless: [name: string, file: string | Uint8Array, reason: RegExp][] = [
  ['is empty', '', /^The file is empty\.$/],
  ['has nothing but line breaks and blanks', '\r\n\r\n \n', /^The file is empty\.$/],
  ['is a mark alone', '\ufeff', /^The file is empty\.$/],
  ['has no email column', 'name,mail\nAda,a@dest.test\n', /no column "email"/],
  ['is one line of 5 MB', 'x'.repeat(5 * 1024 * 1024), /longer than 262144 characters/],
  ['is a megabyte of commas', `email${','.repeat(1_000_000)}`, /more than 1000 columns/],
  ['is a megabyte of zeros', new Uint8Array(1_000_000), /longer than/],
  ['is an archive', Buffer.from('PK\x03\x04../../etc/passwd\x00\xff\xfe'), /unpack the archive/],
]

for (const [name, file, reason] of hopeless) {
  test(`a file that ${name} fails at once, with the reason, and is deleted`, async (t) => {
    const { core, projectId, people } = await useImports(t)
    await uploadFile(core, file, { projectId })
    const job = await claim(core)
    const run = () => importContacts(core, job)
    const hasReason = (error: unknown) =>
      error instanceof FinalFailure && reason.test(error.message)
    await assert.rejects(run, hasReason)
    assert.equal(await countChunks(core), 0)
    assert.deepEqual(await people(), [])
    await assert.rejects(run, hasReason, 'a second run says the same')
  })
}

test('S23: other work runs between the chunks of a hostile file', async (t) => {
  const { run } = await useImports(t)
  const hostile = [
    `email,x\na@dest.test,"${'y'.repeat(1_000_000)}`,
    `email,x\na@dest.test,${'"",'.repeat(200_000)}`,
    `email${',c'.repeat(900)}\n${`a@dest.test${',1'.repeat(10_000)}\n`.repeat(30)}`,
    `email\n${'\n'.repeat(500_000)}`,
  ]
  for (const file of hostile) {
    let turns = 0
    let immediate = setImmediate(function count() {
      turns += 1
      immediate = setImmediate(count)
    })
    const result = await run(file)
    clearImmediate(immediate)
    // It is read twice: once for its encoding.
    assert.ok(turns > (2 * file.length) / (64 * 1024), `it turned ${turns} times`)
    assert.ok(result.errors.length <= 1000)
  }
})

test('F10, S23: other work runs within a chunk of very short rows, also while the file is looked at', async (t) => {
  const { core, projectId } = await useImports(t)
  const ROWS = 100_000
  await uploadFile(core, `email\n${'x\n'.repeat(ROWS)}`, { projectId })
  const { payload } = await claim(core)
  const options = payload as ImportPayload
  let rows = 0
  const readTurns = await countTurns(async () => {
    for await (const batch of readRows(core, options)) rows += batch.rows.length
  })
  assert.equal(rows, ROWS)
  assert.ok(readTurns >= (2 * ROWS) / (8 * 1024), `${readTurns} turns to read`)
  const rules = { areContacts: true, isCut: () => false, projectId, payload: options }
  const signal = new AbortController().signal
  const scanTurns = await countTurns(() => scanFile(core, { ...rules, signal }))
  assert.ok(scanTurns - readTurns >= ROWS / 2_000, `${scanTurns} turns to look at the file`)
})
