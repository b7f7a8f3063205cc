/** Compares pages of events with sorting all events, and checks the query plans. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { appendEvents } from '../../../../src/features/ground/events/append.ts'
import { findCursorById } from '../../../../src/features/ground/events/cursor.ts'
import { deleteEventBatch } from '../../../../src/features/ground/events/delete.ts'
import { selectSizedEvents } from '../../../../src/features/ground/events/list.ts'
import { selectCounts, selectNames } from '../../../../src/features/ground/events/names.ts'
import { type EventScope, selectPage } from '../../../../src/features/ground/events/select-page.ts'
import {
  countContactsByProbe,
  countDistinctContacts,
  countNamed,
} from '../../../../src/features/ground/events/usage.ts'
import { selectLines } from '../../../../src/features/insight/activity/list.ts'
import type { Statement } from '../../../../src/store/database.ts'
import { compileSql } from '../../../../src/store/database.ts'
import { type SQL, sql } from '../../../../src/store/drizzle.ts'
import { type EventRow, events } from '../../../../src/store/schema/events.ts'
import { openTestCore, type TestCore } from '../../../core.ts'

const names = ['a', 'b', 'c', 'email.open']
const projects = ['p', 'q']

const someEvents = fc.array(
  fc.record({
    projectId: fc.constantFrom(...projects),
    name: fc.constantFrom(...names),
    contact: fc.constantFrom(null, 'x', 'y'),
    at: fc.nat(9),
  }),
  { minLength: 1, maxLength: 40 },
)

/** Absent half of the time, because a scope with every restriction has hardly any events. */
const maybe = <Value>(given: fc.Arbitrary<Value>) => fc.option(given, { nil: undefined, freq: 2 })
const bound = maybe(fc.nat(9))
/** Some names appear twice, as a request may have them. */
const someNames = maybe(fc.array(fc.constantFrom(...names), { maxLength: 6 }))
const someScope = fc.record({
  projectId: fc.constantFrom(...projects),
  contact: maybe(fc.constantFrom('x', 'y')),
  names: someNames,
  exceptNames: someNames,
  startAt: bound,
  endAt: bound,
  after: maybe(fc.record({ at: fc.nat(9), seq: fc.nat(60) })),
})

/** A contact belongs to one project. */
const contactOf = (projectId: string, contact: string | null | undefined) =>
  contact == null ? contact : `${projectId}-${contact}`

function isOn({ projectId, ...scope }: EventScope, event: EventRow): boolean {
  const { startAt = 0, endAt = 99, after = { at: 99, seq: 0 }, contactId } = scope
  if (event.projectId !== projectId) return false
  if (contactId !== undefined && event.contactId !== contactId) return false
  if (scope.names?.includes(event.name) === false) return false
  if (scope.exceptNames?.includes(event.name)) return false
  if (event.createdAt < startAt || event.createdAt > endAt) return false
  return event.createdAt < after.at || (event.createdAt === after.at && event.seq < after.seq)
}

test('a page of any scope equals the page from sorting all events', async (t) => {
  const { store } = await openTestCore(t)
  await fc.assert(
    fc.asyncProperty(someEvents, someScope, fc.integer({ min: 1, max: 20 }), async (...given) => {
      const [rows, { contact, ...rest }, limit] = given
      await store.write(async (tx) => {
        await tx.delete(events)
        await tx.run(sql`delete from sqlite_sequence`)
        await appendEvents(
          tx,
          rows.map(({ contact, ...row }) => ({
            ...{ ...row, emailId: null, data: null },
            contactId: contactOf(row.projectId, contact) ?? null,
          })),
        )
      })
      const contactId = contactOf(rest.projectId, contact) ?? undefined
      const scope: EventScope = { ...rest, contactId }
      const shown = await store.read.all<{ seq: number }>(selectPage(scope, limit))
      const all = await store.read.select().from(events)
      const expected = all
        .filter((event) => isOn(scope, event))
        .sort((one, other) => other.createdAt - one.createdAt || other.seq - one.seq)
        .slice(0, limit)
      assert.deepEqual(
        shown.map(({ seq }) => seq),
        expected.map(({ seq }) => seq),
      )
    }),
    { numRuns: 150 },
  )
})

async function planOf({ store }: TestCore, text: string): Promise<string[]> {
  const explained = sql.raw(`explain query plan ${text.replaceAll('?', 'null')}`)
  const rows = await store.read.all<{ detail: string }>(explained)
  return rows.map(({ detail }) => detail)
}

const textOf = (query: SQL) => compileSql(query).sql
const compiled = (made: Statement<unknown>) => made.compiled().text
const after = { at: 7, seq: 7 }

const scopes: [string, Partial<EventScope>, RegExp][] = [
  ['of a project', {}, /events_listed \(project_id=\?\)/],
  ['behind a cursor', { after }, /events_listed \(project_id=\? AND created_at<\?\)/],
  ['of a range', { startAt: 1, endAt: 2 }, /project_id=\? AND created_at>\? AND created_at<\?/],
  ['but some names', { exceptNames: names }, /events_listed \(project_id=\?\)/],
  ['by name', { names, after }, /events_named \(project_id=\? AND name=\? AND created_at<\?\)/],
  ['of a contact', { contactId: 'x', after }, /COVERING INDEX events_contact \(contact_id=\?\)/],
  [
    'of a contact by name',
    { contactId: 'x', names, startAt: 1 },
    /COVERING INDEX events_contact \(contact_id=\? AND name=\? AND created_at>\?\)/,
  ],
]

for (const [name, part, expected] of scopes) {
  test(`a page ${name} is walked along its index`, async (t) => {
    const core = await openTestCore(t)
    const scope = { projectId: 'p', ...part }
    const queries = [selectSizedEvents(scope, 50), selectLines(scope, 50)]
    for (const query of queries) {
      const plan = await planOf(core, textOf(query))
      const steps = plan.filter((step) => /\bevents\b|events_/.test(step))
      assert.ok(
        steps.some((step) => expected.test(step)),
        plan.join('\n'),
      )
      assert.deepEqual(
        plan.filter((step) => /^SCAN (events|each|contacts|emails|contents)/.test(step)),
        [],
      )
    }
  })
}

test('pages of a project and of a name are read in index order without sorting', async (t) => {
  const core = await openTestCore(t)
  for (const part of [{}, { after }]) {
    const plan = await planOf(core, textOf(selectPage({ projectId: 'p', ...part }, 50)))
    assert.ok(!plan.some((step) => step.includes('TEMP B-TREE')), plan.join('\n'))
  }
  const plan = await planOf(core, textOf(selectPage({ projectId: 'p', names }, 50)))
  assert.equal(plan.filter((step) => step.includes('TEMP B-TREE')).length, 1, plan.join('\n'))
})

test('names, counts, usage and deletion read only ranges of indexes', async (t) => {
  const core = await openTestCore(t)
  const counts = selectCounts({ projectId: 'p', names, range: { startAt: 1, endAt: 2 } })
  const named = /COVERING INDEX events_named \(project_id=\? AND name=\?/
  const queries: [string, RegExp][] = [
    [compiled(selectNames), /COVERING INDEX events_named \(project_id=\? AND name>\?\)/],
    [
      textOf(counts),
      /events_named \(project_id=\? AND name=\? AND created_at>\? AND created_at<\?/,
    ],
    [compiled(countNamed), named],
    [compiled(countDistinctContacts), /INDEX events_named \(project_id=\? AND name=\?\)/],
    [compiled(countContactsByProbe), /COVERING INDEX events_contact \(contact_id=\? AND name=\?\)/],
    [compiled(deleteEventBatch), /INDEX events_named \(project_id=\? AND name=\?/],
    [compiled(findCursorById), /INDEX events_listed \(project_id=\? AND created_at<\?\)/],
  ]
  for (const [text, expected] of queries) {
    const plan = await planOf(core, text)
    assert.ok(
      plan.some((step) => expected.test(step)),
      plan.join('\n'),
    )
    assert.deepEqual(
      plan.filter((step) => /^SCAN (events|contacts)/.test(step)),
      [],
    )
  }
})
