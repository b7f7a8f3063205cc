/** Exports of other services: who left there is not subscribed here. The rows are made up, the headers are theirs. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { normalizeHeader } from '../../../../src/features/people/import-export/csv/column-names.ts'
import { JSON_COLUMNS } from '../../../../src/features/people/import-export/csv/header.ts'
import { stateKindOf } from '../../../../src/features/people/import-export/csv/state-columns.ts'
import {
  ADDRESS_COLUMN_NAMES,
  LEFT_COLUMN_NAMES,
} from '../../../../src/features/people/import-export/csv/translated-names.ts'
import { hasLeft, insertWishes, recordWish } from '../../../../src/features/people/wishes/wishes.ts'
import { wishes } from '../../../../src/store/schema/wishes.ts'
import { importFile, useImports } from './run-import.ts'

const LISTMONK = [
  'uuid,email,name,attributes,status,created_at,updated_at',
  'u-1,ada@dest.test,Ada,"{""city"": ""Ghent"", ""plan"": {""name"": ""pro""}, ""name"": ""A"", ""gone"": null}",enabled,2024-01-01,2024-01-02',
  'u-2,bob@dest.test,Bob,{},blocklisted,2024-01-01,2024-01-02',
  'u-3,carl@dest.test,Carl,{},disabled,2024-01-01,2024-01-02',
].join('\n')

test('an export of listmonk subscribes the enabled, and its attributes become data', async (t) => {
  const { run, people } = await useImports(t)
  const result = await run(LISTMONK)
  assert.deepEqual(
    (await people()).map(({ address, subscribed }) => [address, subscribed]),
    [
      ['ada@dest.test', true],
      ['bob@dest.test', false],
      ['carl@dest.test', false],
    ],
  )
  const [ada] = await people()
  const { city, plan, name, ...others } = ada?.data ?? {}
  assert.deepEqual({ city, plan, name }, { city: 'Ghent', plan: { name: 'pro' }, name: 'Ada' })
  assert.deepEqual(Object.keys(others).sort(), ['created_at', 'status', 'updated_at', 'uuid'])
  assert.deepEqual([result.subscribedCount, result.unsubscribedCount], [1, 2])
  assert.deepEqual(result.warnings, [
    'The column "status" has the words blocklisted (1), disabled (1): read as unsubscribed.',
  ])
  assert.deepEqual(result.subscriptionWords, [
    { column: 'status', word: 'enabled', rows: 1, readAs: 'unchanged' },
    { column: 'status', word: 'blocklisted', rows: 1, readAs: 'unsubscribed' },
    { column: 'status', word: 'disabled', rows: 1, readAs: 'unsubscribed' },
  ])
  const attributes = result.columns.find(({ field }) => field === 'data.attributes')
  assert.deepEqual([attributes?.type, attributes?.keys], ['json', ['city', 'plan', 'name']])
  const dry = await run(LISTMONK, { dryRun: true })
  assert.deepEqual(dry.columns, result.columns)
})

test('a cell of a column of objects that is no object stays text, and a warning names its line', async (t) => {
  const { run, people } = await useImports(t)
  const odd = [
    'u-4,odd1@dest.test,Odd,{city: Berlin},enabled,2024-01-01,2024-01-02',
    'u-5,odd2@dest.test,Odd,"[""vip""]",enabled,2024-01-01,2024-01-02',
    'u-6,none@dest.test,None, ,enabled,2024-01-01,2024-01-02',
  ].join('\n')
  const warning =
    '2 cells of the column "attributes" are no JSON objects and become texts, not keys of the data: lines 5, 6.'
  for (const dryRun of [true, false]) {
    const { warnings, damage, errors } = await run(`${LISTMONK}\n${odd}\n`, { dryRun })
    assert.deepEqual(warnings.slice(1), [warning])
    assert.deepEqual([Object.values(damage), errors], [[0, 0, 0, 0], []])
  }
  const [, , , first, second, none] = await people()
  assert.deepEqual(
    [first?.data?.attributes, second?.data?.attributes, none?.data?.attributes],
    ['{city: Berlin}', '["vip"]', undefined],
  )
})

test('every column of objects has its own warning, and one of plain texts has none', async (t) => {
  const { run } = await useImports(t)
  for (const column of JSON_COLUMNS) {
    const name = column.toUpperCase()
    const one = await run(`email,${name}\na@dest.test,{plan=pro}\n`)
    assert.deepEqual(one.warnings, [
      `1 cell of the column "${name}" is no JSON object and becomes a text, not keys of the data: line 2.`,
    ])
    assert.deepEqual((await run(`email,${name}\na@dest.test,red\n`)).warnings, [])
    const file = `email,${name}\na@dest.test,{plan=pro}\n`
    assert.deepEqual((await run(file, { areStrings: true })).warnings, [])
    assert.deepEqual((await run(file, { mapping: [[column, 'note']] })).warnings, [])
  }
  const both = await run('email,attribs,data\na@dest.test,{x,{y\nb@dest.test,"{""a"":1}",{}\n')
  assert.deepEqual(
    both.warnings.map((text) => /"\w+"/.exec(text)?.[0]),
    ['"attribs"', '"data"'],
  )
})

test('cells that are no objects are found after fifty keys, and ten lines are named', async (t) => {
  const { run } = await useImports(t)
  const keys = Array.from({ length: 60 }, (_, at) => [`k${at}`, 1])
  const object = JSON.stringify(Object.fromEntries(keys)).replaceAll('"', '""')
  const rows = Array.from({ length: 12 }, (_, at) => `p${at}@dest.test,nothing`)
  const { warnings } = await run(`email,attributes\na@dest.test,"${object}"\n${rows.join('\n')}\n`)
  assert.match(warnings.join(), /^12 cells of .+: lines 3, 4, .+, 12 and 2 more\.$/)
})

test('the keys of objects are listed up to fifty', async (t) => {
  const { run } = await useImports(t)
  const objects = [0, 40, 80].map((from) => {
    const keys = Array.from({ length: 40 }, (_, at) => [`k${from + at}`, 1])
    return `p${from}@dest.test,"${JSON.stringify(Object.fromEntries(keys)).replaceAll('"', '""')}"`
  })
  const { columns } = await run(`email,attributes\n${objects.join('\n')}\n`, { dryRun: true })
  assert.deepEqual(
    columns.map(({ keys }) => keys?.length),
    [50],
  )
})

test('a long key of an object is shown in part, and is the key as it stands', async (t) => {
  const { run, people } = await useImports(t)
  const cell = JSON.stringify({ ['k'.repeat(61)]: 1 }).replaceAll('"', '""')
  const emoji = JSON.stringify({ [`${'k'.repeat(59)}😀`]: 1 }).replaceAll('"', '""')
  const file = `email,attributes\np@dest.test,"${cell}"\nq@dest.test,"${emoji}"\n`
  for (const dryRun of [true, false]) {
    const { columns } = await run(file, { dryRun })
    const keys = [`${'k'.repeat(60)}…`, `${'k'.repeat(59)}\ufffd…`]
    assert.deepEqual(columns[0]?.keys, keys)
  }
  const [first] = await people()
  assert.deepEqual(first?.data, { ['k'.repeat(61)]: 1 })
})

test('the columns of Mailchimp that explain a time say nothing, and its name is read by a mapping', async (t) => {
  const { run, people } = await useImports(t)
  const header =
    'Email Address,First Name,UNSUB_TIME,UNSUB_CAMPAIGN_TITLE,UNSUB_CAMPAIGN_ID,UNSUB_REASON,UNSUB_REASON_OTHER'
  const rows =
    'a@dest.test,Ann,2024-05-01 10:00:00,Spring news,abc,NORMAL,too much mail\nb@dest.test,Bob,,,,,\n'
  const result = await run(`${header}\n${rows}`, { mapping: [['first name', 'name']] })
  assert.deepEqual(result.warnings, [
    'The column "UNSUB_TIME" is filled in 1 row: read as unsubscribed.',
  ])
  assert.deepEqual([result.subscribedCount, result.unsubscribedCount], [1, 1])
  assert.deepEqual(
    (await people()).map(({ data }) => data?.name),
    ['Ann', 'Bob'],
  )
  // Without a time, a reason is all that says so.
  const bare = await run('email,UNSUB_REASON\nc@dest.test,NORMAL\n')
  assert.equal(bare.unsubscribedCount, 1)
})

test('a good word of another service subscribes nobody who is unsubscribed here', async (t) => {
  const { run, subscribed } = await useImports(t)
  await run('email,subscribed\nada@dest.test,no\n')
  const result = await run(LISTMONK)
  assert.deepEqual(await subscribed(), [])
  assert.deepEqual([result.subscribedCount, result.unsubscribedCount], [0, 2])
  assert.equal(result.keptUnsubscribedCount, 1)
  // Neither rows without a word, nor those of people who are subscribed here or left there.
  const others = 'email,status\nada@dest.test,\nbob@dest.test,disabled\nnew@dest.test,enabled\n'
  assert.equal((await run(others)).keptUnsubscribedCount, 0)
  const known = 'email,status,UNSUB_TIME\nada@dest.test,active,2024-05-01\nnew@dest.test,enabled,\n'
  assert.equal((await run(known)).keptUnsubscribedCount, 0)
})

test('who left another service has a wish, and who is unsubscribed by the own column has none', async (t) => {
  const { core, projectId, run } = await useImports(t)
  await run('email,subscribed\nbob@dest.test,no\nown@dest.test,no\n')
  assert.equal(await core.store.read.$count(wishes), 0)
  await run(LISTMONK)
  await run(LISTMONK)
  await run('email,LEID,EUID\nnon@dest.test,1,2\n', { filename: 'nonsubscribed_export.csv' })
  await run('email,gone\nmapped@dest.test,x\n', { mapping: [['gone', 'unsubscribed']] })
  await run('email,state\nno@dest.test,off\n', { mapping: [['state', 'subscribed']] })
  const names = ['ada', 'bob', 'carl', 'non', 'mapped', 'no', 'own']
  const left: string[] = []
  for (const name of names) {
    const key = { projectId, address: `${name}@dest.test` }
    if (await core.store.write((tx) => hasLeft(tx, key))) left.push(name)
  }
  assert.deepEqual(left, ['bob', 'carl', 'non', 'mapped'])
})

test('the wishes of the rows that are written together take one statement', async (t) => {
  const { core, projectId, run } = await useImports(t)
  const rows = Array.from({ length: 100 }, (_, at) => `p${at}@dest.test,2024-05-01`)
  let statements = 0
  const write: typeof core.store.write = (work, options) =>
    core.store.write((tx) => {
      const execute = t.mock.method(tx, 'execute')
      return Promise.resolve(work(tx)).finally(() => {
        statements += execute.mock.calls.filter(
          ({ arguments: [query] }) => query === insertWishes,
        ).length
        execute.mock.restore()
      })
    }, options)
  await importFile(
    { ...core, store: { ...core.store, write } },
    `email,UNSUB_TIME\n${rows.join('\n')}\n`,
    { projectId },
  )
  assert.equal(await core.store.read.$count(wishes), rows.length)
  assert.equal(statements, rows.length / 20)
  assert.equal((await run('email\np1@dest.test\n')).keptUnsubscribedCount, 0)
})

const MAILCHIMP = 'Email Address,First Name,MEMBER_RATING,OPTIN_TIME'

test('exports of Mailchimp unsubscribe who unsubscribed, was cleaned or never subscribed', async (t) => {
  const { run, subscribed, people } = await useImports(t)
  const files: [name: string, header: string, cells: string][] = [
    ['subscribed_email_audience_export_1.csv', 'LEID,EUID,NOTES,TAGS', '1,2,,'],
    ['u.csv', 'UNSUB_TIME,UNSUB_REASON,LEID,EUID,NOTES,TAGS', '2024-05-01 10:00:00,,1,2,,'],
    ['c.csv', 'CLEAN_TIME,CLEAN_CAMPAIGN_TITLE,LEID,EUID', '2024-05-01 10:00:00,,1,2'],
    ['nonsubscribed_email_audience_export_1.csv', 'LEID,EUID,NOTES,TAGS', '1,2,,'],
  ]
  const warnings: string[][] = []
  for (const [at, [filename, columns, cells]] of files.entries()) {
    const row = `p${at}@dest.test,Pat,2,2020-01-01 00:00:00,${cells}`
    const result = await run(`${MAILCHIMP},${columns}\n${row}\n`, { filename })
    warnings.push(result.warnings)
  }
  assert.equal((await people()).length, files.length)
  assert.deepEqual(await subscribed(), ['p0@dest.test'])
  assert.deepEqual(warnings, [
    [],
    ['The column "UNSUB_TIME" is filled in 1 row: read as unsubscribed.'],
    ['The column "CLEAN_TIME" is filled in 1 row: read as unsubscribed.'],
    ['By its name, the file has people who left: they are read as unsubscribed.'],
  ])
})

/** Columns of services, with a cell of who gets mail and of who left. */
const COLUMNS: [service: string, column: string, stays: string, leaves: string][] = [
  ['HubSpot', 'Unsubscribed from all email', 'false', 'true'],
  ['HubSpot, older', 'Opted out of all email', '', 'Yes'],
  ['Salesforce', 'HasOptedOutOfEmail', '0', '1'],
  ['Zoho', 'Email Opt Out', 'false', 'true'],
  ['Brevo', 'EMAIL_BLACKLISTED', 'false', 'true'],
  ['Resend', 'unsubscribed', 'false', 'true'],
  ['Klaviyo', 'Email Marketing Consent', 'SUBSCRIBED', 'NEVER_SUBSCRIBED'],
  ['Klaviyo, suppressions', 'Email Suppressions', '[]', '["USER_SUPPRESSED"]'],
  ['Ghost', 'subscribed_to_emails', 'true', 'false'],
  ['Shopify', 'Accepts Email Marketing', 'yes', 'no'],
  ['Substack', 'email_disabled', 'false', 'true'],
  ['Buttondown', 'subscriber_type', 'regular', 'unactivated'],
  ['Mailcoach', 'unsubscribed_at', '', '2024-01-01 10:00:00'],
  ['MailerLite', 'Unsubscribe timestamp', '', '2024-01-01 10:00:00'],
  ['phpList, table', 'blacklisted', '0', '1'],
  ['phpList', 'Is this subscriber blacklisted', '0', '1'],
  ['phpList', 'Is this subscriber confirmed', '1', '0'],
  ['phpList', 'Is this account disabled?', '0', '1'],
  ['Brevo, API', '_BLOCKLISTED', 'sms_marketing', 'email_marketing'],
  ['MailUp', 'OptOut_Date', '', '20110122T111244'],
  ['German', 'Abgemeldet am', '', '01.02.2024'],
  ['German', 'abgemeldet', 'nein', 'ja'],
  ['French', 'Désinscrit le', '', '2024-02-01'],
  ['French', 'DESINSCRIT', 'non', 'oui'],
  ['Dutch', 'Uitgeschreven op', '', '1-2-2024'],
  ['Spanish', 'Dado de baja', 'no', 'sí'],
  ['Japanese', '配信停止日', '', '2024/02/01'],
  ['many', 'opted_out', '', '2024-01-01'],
  ['many', 'optout_time', '', '2024-01-01 10:00'],
  ['many', 'Status', 'Active', 'Unsubscribed'],
  ['many', 'status', 'subscribed', 'bounced'],
  ['many', 'Subscription Status', 'confirmed', 'abgemeldet'],
]

for (const [service, column, stays, leaves] of COLUMNS) {
  test(`the column ${column} (${service}) tells who left`, async (t) => {
    const { run, subscribed } = await useImports(t)
    const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`
    const file = `email,${column}\nstays@dest.test,${quoted(stays)}\nleaves@dest.test,${quoted(leaves)}\n`
    const { subscribedCount, unsubscribedCount, warnings } = await run(file)
    assert.deepEqual(await subscribed(), ['stays@dest.test'])
    assert.deepEqual([subscribedCount, unsubscribedCount, warnings.length], [1, 1, 1])
    assert.match(warnings[0] ?? '', /read as unsubscribed\.$/)
  })
}

const LIKE_LEFT: [column: string, cell: string][] = [
  ['newsletter_unsub_on', '2024-01-01'],
  ['Abmelde-Tag', '1.2.24'],
  ['unsubscribe_link_expires', '2027-01-01'],
  ['Opt-out deadline', '2027-01-01'],
  ['Not unsubscribed since', '2020-01-01'],
  ['Adopt Outcome Date', '2024-01-01'],
  ['Abmeldefrist', '31.12.2026'],
  ['Can opt out until', '2027-01-01'],
  ['Fahrzeug abgemeldet am', '01.02.2024'],
  ['unsubscribe_rate', '2024.5'],
  ['Data wypisu', '2024-01-01'],
  ['Data wypisania', '2024-01-01'],
  ['Ausgetragen am', '01.02.2024'],
  ['退订日期', '2024-01-01'],
  ['退訂時間', '2024-01-01 10:00'],
  ['opt-out marker', 'unsubscribed'],
]

for (const [column, cell] of LIKE_LEFT) {
  test(`the column ${column} is only like one of people who left: it is named, and changes nobody`, async (t) => {
    const { core, run, subscribed } = await useImports(t)
    const file = `email,${column}\na@dest.test,${cell}\nb@dest.test,\n`
    for (const dryRun of [true, false]) {
      const { warnings, unsubscribedCount, subscriptionWords } = await run(file, { dryRun })
      assert.equal(unsubscribedCount, 0)
      assert.equal(warnings.length, 1)
      assert.ok(warnings[0]?.startsWith(`The column "${column}" `), warnings[0])
      assert.match(warnings[0] ?? '', /: not read, so they unsubscribe nobody\./)
      assert.ok(warnings[0]?.includes(`"mapping": as {"${column}": "subscribed"}`), warnings[0])
      assert.ok(
        warnings[0]?.includes(`as {"${column}": "unsubscribed"} if it is filled`),
        warnings[0],
      )
      assert.deepEqual(
        subscriptionWords.map(({ rows, readAs }) => [rows, readAs]),
        [[1, 'unchanged']],
      )
    }
    assert.equal((await subscribed()).length, 2)
    assert.equal(await core.store.read.$count(wishes), 0)
    await run(file, { mapping: [[normalizeHeader(column), 'unsubscribed']] })
    assert.deepEqual(await subscribed(), ['b@dest.test'])
  })
}

test('a column that is like one of people who left is named, unless it is a link or of another way', async (t) => {
  const { run, subscribed } = await useImports(t)
  const { warnings } = await run('email,opt-out marker\na@dest.test,x\nb@dest.test,\n')
  assert.match(
    warnings.join(),
    /^The column "opt-out marker" has the words x \(1\): not read.+\{"opt-out marker": "unsubscribed"\}/,
  )
  for (const column of [
    'unsubscribe_url',
    'Abmeldelink',
    'SMS opt-out date',
    'unsubscribe token',
  ]) {
    const other = await run(`email,${column}\na@dest.test,2024-01-01\n`)
    assert.deepEqual(other.warnings, [], column)
  }
  assert.equal((await subscribed()).length, 2)
})

test('every name of a column of people who left is read, with and without accents', () => {
  for (const [language, names] of Object.entries(LEFT_COLUMN_NAMES)) {
    assert.ok(Object.hasOwn(ADDRESS_COLUMN_NAMES, language), language)
    for (const name of names) {
      assert.equal(stateKindOf(name.toUpperCase(), new Set()), 'left', name)
      const plain = name.normalize('NFKD').replaceAll(/[\u0300-\u036f]/g, '')
      assert.equal(stateKindOf(plain, new Set()), 'left', plain)
    }
  }
})

test('people whom phpList imported stay although they did not confirm by hand', async (t) => {
  const { run, subscribed } = await useImports(t)
  await run('email,confirmed,blacklisted,optedin\na@dest.test,1,0,0\nb@dest.test,0,0,0\n')
  assert.deepEqual(await subscribed(), ['a@dest.test'])
})

test('a confirmed beside columns of phpList unsubscribes; elsewhere it changes nobody and is named', async (t) => {
  const { run, subscribed } = await useImports(t)
  const rows = (more: string) =>
    `a@dest.test,1${more}\nb@dest.test,0${more}\nc@dest.test,no${more}\n`
  const { warnings } = await run(`email,confirmed\n${rows('')}`)
  assert.equal((await subscribed()).length, 3)
  assert.match(warnings.join(), /^The column "confirmed" has the words 0 \(1\), no \(1\): not read/)
  for (const column of ['blacklisted', 'Bounce count']) {
    const other = await useImports(t)
    await other.run(`email,subscribed\n${rows('').replaceAll(/,\w+/g, ',yes')}`)
    assert.equal((await other.subscribed()).length, 3)
    await other.run(`email,confirmed,${column}\n${rows(',0')}`)
    assert.deepEqual(await other.subscribed(), ['a@dest.test'], column)
  }
})

for (const text of ['-1', '(1)', '1%', '1.', '-yes', '- active', '–1', '#1', '−1', '+1']) {
  test(`${text} is no word of people who get mail`, async (t) => {
    const { run, subscribed } = await useImports(t)
    const { warnings } = await run(`email,subscribed\na@dest.test,"${text}"\nb@dest.test, 1 \n`)
    assert.deepEqual(await subscribed(), ['b@dest.test'])
    assert.deepEqual(warnings.length, 1)
    const status = await run(`email,subscription status\nc@dest.test,"${text}"\nd@dest.test,1\n`)
    assert.deepEqual(await subscribed(), ['b@dest.test', 'd@dest.test'])
    assert.equal(status.unsubscribedCount, 1)
    const mapping = [['mail', 'subscribed']] as const
    await run(`email,mail\ne@dest.test,"${text}"\n`, { mapping: mapping.map(([a, b]) => [a, b]) })
    assert.equal((await subscribed()).includes('e@dest.test'), false)
  })
}

test('an export of Keila: words of its status count, and its JSON becomes data', async (t) => {
  const { run, people } = await useImports(t)
  const header = 'Email,First name,Last name,Data,Status,External ID'
  await run(
    `${header}\na@dest.test,A,B,"{""plan"":""pro""}",active,1\nb@dest.test,B,B,{},unreachable,2\n`,
  )
  assert.deepEqual(
    (await people()).map(({ subscribed, data }) => [subscribed, data?.plan]),
    [
      [true, 'pro'],
      [false, undefined],
    ],
  )
})

test('an export of Keila without external ids is read in the same way', async (t) => {
  const { run, subscribed } = await useImports(t)
  const header = 'Email,First name,Last name,Data,Status'
  await run(`${header}\na@dest.test,A,B,{},active\nb@dest.test,B,B,{},inactive\n`)
  assert.deepEqual(await subscribed(), ['a@dest.test'])
})

test('words that may mean something else change nobody and are named, with the way to map them', async (t) => {
  const { run, subscribed } = await useImports(t)
  const rows = 'a@dest.test,inactive\nb@dest.test,shipped\nc@dest.test,shipped\n'
  const { warnings } = await run(`email,status\n${rows}`)
  assert.deepEqual(warnings, [
    'The column "status" has the words inactive (1), shipped (2): not read, so they unsubscribe nobody. If it says who left, name it in the field "mapping": as {"status": "subscribed"} if active, enabled or yes stand for people who get mail, as {"status": "unsubscribed"} if it is filled for people who left, as {"status": null} to leave it out. Only "unsubscribed" lasts: later files subscribe these people only with resubscribe=true.',
  ])
  assert.equal((await subscribed()).length, 3)
  const state = await run('email,state\na@dest.test,CA\nb@dest.test,NY\n')
  assert.deepEqual(state.warnings, [])
})

test('the mapping decides alone what a column says', async (t) => {
  const { run, subscribed } = await useImports(t)
  const file = (n: number) => `email,status\na${n}@dest.test,active\nb${n}@dest.test,gone\n`
  await run(file(1), { mapping: [['status', 'subscribed']] })
  await run(file(2), { mapping: [['status', 'unsubscribed']] })
  const data = await run('email,status\nc@dest.test,unsubscribed\n', {
    mapping: [['status', 'status']],
  })
  assert.deepEqual(await subscribed(), ['a1@dest.test', 'c@dest.test'])
  assert.deepEqual(data.warnings, [])
})

test('the column subscribed decides for its rows, and words that nobody may expect are named', async (t) => {
  const { run, subscribed } = await useImports(t)
  const lines = Array.from({ length: 3_749 }, (_, at) => `p${at}@dest.test,ja`)
  const result = await run(`email,subscribed\n${lines.join('\n')}\nn@dest.test,nein\n`)
  assert.deepEqual(result.warnings, [
    'The column "subscribed" has the words ja (3,749), nein (1): read as unsubscribed.',
  ])
  assert.deepEqual([result.subscribedCount, result.unsubscribedCount], [0, 3_750])
  const both =
    'email,subscribed,unsubscribed_at\nback@dest.test,yes,2020-01-01\nleft@dest.test,,2020-01-01\n'
  await run(both)
  assert.deepEqual(await subscribed(), ['back@dest.test'])
  const plain = await run('email,subscribed\nx@dest.test,false\ny@dest.test,no\nz@dest.test,0\n')
  assert.deepEqual(plain.warnings, [])
})

test('the list of words is bounded, whatever the file has', async (t) => {
  const { run } = await useImports(t)
  const rows = Array.from(
    { length: 300 },
    (_, at) => `p${at}@dest.test,${'w'.repeat(80)}${at} x,s${at}`,
  )
  const columns = Array.from({ length: 30 }, (_, at) => `status${' '.repeat(at % 2)}`)
  const file = `email,subscribed,status,${columns.join(',')}\n${rows.join('\n')}\n`
  const { subscriptionWords, warnings } = await run(file)
  assert.ok(subscriptionWords.length <= 10 * 21, String(subscriptionWords.length))
  assert.ok(subscriptionWords.every(({ word }) => word === null || word.length <= 40))
  assert.equal(subscriptionWords.find(({ column }) => column === 'subscribed')?.rows, 300)
  assert.ok(warnings.join('').length < 20_000)
})

test('names that an import does not know are listed', async (t) => {
  const { run } = await useImports(t)
  const overwrite = { field: 'overwrite', message: 'There is no such field', suggestion: null }
  const { unknownFields } = await run('email,tariff,id\na@dest.test,pro,1\n', {
    mapping: [
      ['tarif', 'plan'],
      ['something else', 'other'],
    ],
    unknownFields: [overwrite],
  })
  assert.deepEqual(
    unknownFields.map(({ field, suggestion }) => [field, suggestion]),
    [
      ['overwrite', null],
      ['mapping.tarif', 'tariff'],
      ['mapping.something else', null],
      ['id', null],
    ],
  )
})

test('a person who left stays unsubscribed after an export that says active', async (t) => {
  const { run, subscribed, core, projectId } = await useImports(t)
  await core.store.write((tx) =>
    recordWish(tx, { projectId, address: 'ada@dest.test', kind: 'page', at: core.now() }),
  )
  const result = await run(LISTMONK)
  assert.deepEqual(await subscribed(), [])
  assert.equal(result.keptUnsubscribedCount, 1)
  assert.deepEqual([result.subscribedCount, result.unsubscribedCount], [0, 3])
})

test('the people of an export without a column for it left for good by any column that is filled', async (t) => {
  const { core, projectId, run, subscribed } = await useImports(t)
  await run('email\nhere@dest.test\n')
  const header = 'uuid,email,name,attributes,status,created_at,updated_at'
  const rows = ['here', 'new'].map(
    (name, at) =>
      `6ad0f4a1-0000-4000-8000-00000000001${at},${name}@dest.test,N,{},enabled,2024-01-01,2024-01-02`,
  )
  const file = `${header}\n${rows.join('\n')}\n`
  const result = await run(file, { mapping: [['uuid', 'unsubscribed']] })
  assert.deepEqual([result.subscribedCount, result.unsubscribedCount], [0, 2])
  assert.deepEqual(result.warnings, [
    'The column "uuid" is filled in 2 rows: read as unsubscribed.',
  ])
  assert.equal(await core.store.read.$count(wishes), 2)
  // Nor does the file of all, or an older file with another word.
  await run(file)
  await run('email,subscribed\nhere@dest.test,true\nnew@dest.test,true\n')
  assert.deepEqual(await subscribed(), [])
  assert.equal(
    await core.store.write((tx) => hasLeft(tx, { projectId, address: 'new@dest.test' })),
    true,
  )
})

test('a mapping to unsubscribed counts in an export of this service, too', async (t) => {
  const { core, run, subscribed } = await useImports(t)
  const header = 'id,email,subscribed,createdAt,updatedAt'
  const file = `${header}\r\n1,a@dest.test,false,2024-01-01,2024-01-01\r\n`
  const mapping: [string, string | null][] = [
    ['subscribed', null],
    ['createdat', 'unsubscribed'],
  ]
  for (const dryRun of [true, false]) {
    assert.equal((await run(file, { mapping, dryRun })).unsubscribedCount, 1)
  }
  assert.deepEqual(await subscribed(), [])
  assert.equal(await core.store.read.$count(wishes), 1)
  // Without the mapping, no column but `subscribed` says who left.
  const plain = await run(`${header},data.unsubscribed\r\n2,b@dest.test,,x,x,yes\r\n`)
  assert.equal(plain.subscribedCount, 1)
})

test('a name near subscribed is a warning, in the mapping and as a header', async (t) => {
  const { run } = await useImports(t)
  const file = 'email,news,lang,subscribd,subscriber,x\na@dest.test,no,de,no,Ann,1\n'
  const { unknownFields, warnings } = await run(file, {
    mapping: [
      ['news', 'subscribedd'],
      ['lang', 'Locale'],
      ['x', 'plan'],
    ],
  })
  assert.deepEqual(
    unknownFields.map(({ field, suggestion }) => [field, suggestion]),
    [
      ['mapping.news', 'subscribed'],
      ['mapping.lang', 'locale'],
      ['subscribd', 'subscribed'],
    ],
  )
  assert.equal(
    warnings[0],
    'mapping.news: The column becomes the key "subscribedd" of the data; did you mean subscribed?',
  )
  assert.equal(warnings.length, 3)
  const good = await run('email,a,b\nc@dest.test,yes,de\n', {
    mapping: [
      ['a', 'subscribed'],
      ['b', 'locale'],
    ],
  })
  assert.deepEqual([good.unknownFields, good.warnings], [[], []])
  const words = await run('email,a,b,c\nd@dest.test,yes,no,1\n', {
    mapping: [
      ['a', 'local'],
      ['b', 'vocal'],
      ['c', 'Focal'],
    ],
  })
  assert.deepEqual(words.unknownFields, [])
})
