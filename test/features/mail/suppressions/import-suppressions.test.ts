import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { importSuppressions } from '../../../../src/features/mail/suppressions/import-suppressions.ts'
import { addProject, openTestCore } from '../../../core.ts'
import { listSuppressions } from '../../../lists.ts'
import {
  claim,
  type Given,
  importFile,
  listContacts,
  subscriptionChanges,
  uploadFile,
} from '../../people/import-export/run-import.ts'

async function setUp(t: TestContext) {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  return {
    core,
    projectId,
    run: async (file: string, given: Partial<Given> = {}) => {
      await uploadFile(core, file, { projectId, kind: 'suppressions-import', ...given })
      return importSuppressions(core, await claim(core, 'suppressions-import'))
    },
    list: async () => {
      const { data } = await listSuppressions(core, { projectId, limit: 1000 })
      return data.map(({ email, reason, source }) => [email, reason, source]).sort()
    },
  }
}

test('addresses are suppressed with their reason, and their contacts unsubscribed', async (t) => {
  const { run, list, core, projectId } = await setUp(t)
  await importFile(core, 'email\na@dest.test\nb@dest.test\n', { projectId })
  const result = await run(
    'Email,Reason\nA@dest.test,COMPLAINT\nb@dest.test,\nc@dest.test,bounce\n',
  )
  assert.deepEqual(result, {
    totalRows: 3,
    successCount: 3,
    createdCount: 3,
    updatedCount: 0,
    failureCount: 0,
    errors: [],
    warnings: [],
    columns: [],
    damage: { guessedRows: 0, replacedCharacters: 0, droppedCells: 0, cutFields: 0 },
    unknownFields: [],
    addedCount: 3,
    existingCount: 0,
  })
  assert.deepEqual(await list(), [
    ['a@dest.test', 'COMPLAINT', 'import'],
    ['b@dest.test', 'MANUAL', 'import'],
    ['c@dest.test', 'HARD_BOUNCE', 'import'],
  ])
  const people = await listContacts(core, projectId)
  assert.deepEqual(
    people.map(({ address, subscribed }) => [address, subscribed]),
    [
      ['a@dest.test', false],
      ['b@dest.test', false],
    ],
    'nobody becomes a contact by it',
  )
  assert.deepEqual(await subscriptionChanges(core), [
    ['contact.unsubscribed', { reason: 'complaint' }],
    ['contact.unsubscribed', { reason: 'manual' }],
  ])
})

test('a suppressed address keeps its first reason, also within a file', async (t) => {
  const { run, list } = await setUp(t)
  await run('email,reason\na@dest.test,spam\n')
  const again = await run('email,reason\na@dest.test,bounce\nb@dest.test,hard\nb@dest.test,spam\n')
  assert.deepEqual([again.addedCount, again.existingCount], [1, 2])
  assert.deepEqual(await list(), [
    ['a@dest.test', 'COMPLAINT', 'import'],
    ['b@dest.test', 'HARD_BOUNCE', 'import'],
  ])
})

const words: [word: string, reason: string][] = [
  ['HARD_BOUNCE', 'HARD_BOUNCE'],
  ['hard-bounce', 'HARD_BOUNCE'],
  ['Bounced', 'HARD_BOUNCE'],
  ['SpamComplaint', 'COMPLAINT'],
  ['spam report', 'COMPLAINT'],
  ['Unsubscribed', 'MANUAL'],
  ['ManualSuppression', 'MANUAL'],
  ['STRIKES', 'STRIKES'],
  ['soft bounce', 'STRIKES'],
]

test('reasons of other services are recognized, and any other word is stored in source', async (t) => {
  const { run, list } = await setUp(t)
  const rows = words.map(([word], at) => `a${at}@dest.test,${word}`)
  await run(`email,reason\n${rows.join('\n')}\nz@dest.test,"550 5.1.1, unknown"\n`)
  assert.deepEqual(await list(), [
    ...words.map(([, reason], at) => [`a${at}@dest.test`, reason, 'import']),
    ['z@dest.test', 'MANUAL', 'import: 550 5.1.1, unknown'],
  ])
})

test('columns are mapped, and invalid rows are listed', async (t) => {
  const { run, list } = await setUp(t)
  const mapping = [
    ['recipient', 'email'],
    ['type', 'reason'],
  ] as const
  const result = await run('Recipient;Type\na@dest.test;bounce\nnobody;bounce\n', { mapping })
  assert.deepEqual(result.errors, [
    { row: 3, line: 3, email: 'nobody', error: 'Not an email address' },
  ])
  assert.deepEqual(await list(), [['a@dest.test', 'HARD_BOUNCE', 'import']])
})
