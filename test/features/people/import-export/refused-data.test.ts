/** Rows of people who left and whose data is refused: the data is lost, the wish is not. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { wishes } from '../../../../src/store/schema/wishes.ts'
import { subscriptionChanges, useImports } from './run-import.ts'

const LARGE = 'x'.repeat(70_000)
const HALF = 'x'.repeat(40_000)
const TOO_LARGE = 'The data would be larger than 65536 bytes of JSON'
const UNSUBSCRIBED = '. The data is not stored, but the person is unsubscribed.'

async function setUp(t: TestContext) {
  const imports = await useImports(t)
  const countWishes = () => imports.core.store.read.$count(wishes)
  return { ...imports, run: imports.runTwice, countWishes }
}

test('a known contact is unsubscribed with a wish, without the data of the row', async (t) => {
  const { core, run, people, countWishes } = await setUp(t)
  await run('email,name\na@dest.test,Ada\n')
  const { warnings, ...result } = await run(
    `email,status,name,note\na@dest.test,blocklisted,Eve,${LARGE}\n`,
  )
  assert.deepEqual(await people(), [
    { address: 'a@dest.test', subscribed: false, data: { name: 'Ada' } },
  ])
  assert.deepEqual(result.errors, [
    { row: 2, line: 2, email: 'a@dest.test', error: `${TOO_LARGE}${UNSUBSCRIBED}` },
  ])
  const { totalRows, successCount, failureCount, unsubscribedCount } = result
  assert.deepEqual([totalRows, successCount, failureCount, unsubscribedCount], [1, 0, 1, 1])
  assert.equal(await countWishes(), 1)
  assert.deepEqual(
    (await subscriptionChanges(core)).map(([name]) => name),
    ['contact.unsubscribed'],
  )
  assert.match(warnings[0] ?? '', /blocklisted \(1\): read as unsubscribed/)
})

test('no later row and no later file subscribes the person', async (t) => {
  const { run, people, countWishes } = await setUp(t)
  const file = `email,status,note\na@dest.test,blocklisted,${LARGE}\na@dest.test,enabled,\n`
  const { failureCount, successCount, unsubscribedCount, subscribedCount } = await run(file)
  assert.deepEqual([failureCount, successCount], [1, 1])
  assert.deepEqual([unsubscribedCount, subscribedCount], [1, 0])
  const later = await run('email,subscribed\na@dest.test,yes\n')
  assert.deepEqual([later.keptUnsubscribedCount, later.subscribedCount], [1, 0])
  assert.deepEqual(await people(), [
    { address: 'a@dest.test', subscribed: false, data: { status: 'enabled' } },
  ])
  assert.equal(await countWishes(), 1)
})

test('data that becomes too large in the merge is left out, too', async (t) => {
  const { run, people, countWishes } = await setUp(t)
  await run(`email,first\na@dest.test,${HALF}\n`)
  const { errors, unsubscribedCount } = await run(
    `email,unsubscribed_at,second\na@dest.test,2024-01-01,${HALF}\n`,
  )
  const reason = 'The data of the contact would be larger than 65536 bytes of JSON'
  assert.deepEqual(
    errors.map(({ error }) => error),
    [`${reason}${UNSUBSCRIBED}`],
  )
  assert.equal(unsubscribedCount, 1)
  assert.deepEqual(await people(), [
    { address: 'a@dest.test', subscribed: false, data: { first: HALF } },
  ])
  assert.equal(await countWishes(), 1)
})

test('a column subscribed unsubscribes, too, and records no wish', async (t) => {
  const { run, people, countWishes } = await setUp(t)
  await run('email\na@dest.test\n')
  const { errors } = await run(`email,subscribed,"a\0b"\na@dest.test,no,1\n`)
  assert.equal(
    errors[0]?.error,
    `data.a\0b: A key must not have control or broken characters${UNSUBSCRIBED}`,
  )
  assert.deepEqual(
    (await people()).map(({ subscribed }) => subscribed),
    [false],
  )
  assert.equal(await countWishes(), 0)
})

test('rows that unsubscribe nobody change nothing if their data is refused', async (t) => {
  const { run, people, countWishes } = await setUp(t)
  await run('email\nknown@dest.test\n')
  const rows = [`known@dest.test,enabled,${LARGE}`, `new@dest.test,,${LARGE}`]
  const file = `email,status,note\n${rows.join('\n')}\n`
  const { errors, unsubscribedCount, subscribedCount } = await run(file, { subscribed: false })
  assert.deepEqual(
    errors.map(({ error }) => error),
    [TOO_LARGE, TOO_LARGE],
  )
  assert.deepEqual([unsubscribedCount, subscribedCount], [0, 0])
  assert.deepEqual(await people(), [{ address: 'known@dest.test', subscribed: true, data: null }])
  assert.equal(await countWishes(), 0)
})

test('the words of rows that cannot be read are in no warning', async (t) => {
  const { run, people } = await setUp(t)
  await run('email\na@dest.test\nb@dest.test\n')
  const rows = [
    `a@dest.test,blocklisted,${'x'.repeat(300_000)}`,
    'b@dest.test,blocklisted,"never closed',
  ]
  const result = await run(`email,status,note\n${rows.join('\n')}\n`)
  assert.deepEqual([result.warnings, result.subscriptionWords], [[], []])
  assert.deepEqual(
    result.errors.map(({ error }) => error),
    [
      'The row is too long',
      'A quote in this row is never closed, so the rest of the file became its text',
    ],
  )
  assert.ok((await people()).every(({ subscribed }) => subscribed))
})
