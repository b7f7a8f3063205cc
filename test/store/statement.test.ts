import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { rowsChanged } from '../../src/store/database.ts'
import { jsonValue } from '../../src/store/dialect.ts'
import { and, asc, eq, gt, sql } from '../../src/store/drizzle.ts'
import { parameter, statement } from '../../src/store/statement.ts'
import { notes, openTestStore } from './test-store.ts'

const insertNote = statement((db) =>
  db.insert(notes).values({
    id: parameter('id'),
    seq: parameter('seq'),
    isDone: parameter('isDone'),
    data: parameter('data'),
  }),
)
const findNote = statement((db) =>
  db
    .select()
    .from(notes)
    .where(eq(notes.id, parameter('id'))),
)
const listAfter = statement((db) =>
  db
    .select({ id: notes.id, isDone: notes.isDone })
    .from(notes)
    .where(gt(notes.seq, parameter('after')))
    .orderBy(asc(notes.seq)),
)
const finish = statement((db) =>
  db
    .update(notes)
    .set({ isDone: parameter('isDone'), body: sql`${notes.body} || ${parameter('mark')}` })
    .where(and(eq(notes.id, parameter('id')), eq(notes.isDone, false)))
    .returning({ body: notes.body, data: notes.data }),
)
const countBySql = statement<{ total: number }>(
  () => sql`select count(*) as total from notes where seq > ${parameter('after')}`,
)

test('prepared rows go through the column encoders and decoders', async (t) => {
  const store = await openTestStore(t)
  await store.write(async (tx) => {
    const changed = await tx.execute(insertNote, {
      id: 'a',
      seq: 1,
      isDone: true,
      data: { x: [1] },
    })
    assert.equal(changed, 1)
    await tx.execute(insertNote, { id: 'b', seq: 2, isDone: false, data: null })
  })
  assert.deepEqual(await store.read.find(findNote, { id: 'a' }), {
    id: 'a',
    seq: 1,
    body: '',
    isDone: true,
    data: { x: [1] },
  })
  assert.deepEqual(await store.read.list(listAfter, { after: 0 }), [
    { id: 'a', isDone: true },
    { id: 'b', isDone: false },
  ])
  const [raw] = await store.read.values(sql`select data is null, is_done from notes where id = 'b'`)
  assert.deepEqual(raw, [1, 0])
})

test('a prepared select without matching rows finds nothing', async (t) => {
  const store = await openTestStore(t)
  assert.equal(await store.read.find(findNote, { id: 'a' }), undefined)
  assert.deepEqual(await store.read.list(findNote, { id: 'a' }), [])
})

test('a prepared update counts its rows and returns them', async (t) => {
  const store = await openTestStore(t)
  await store.write(async (tx) => {
    await tx.execute(insertNote, { id: 'a', seq: 1, isDone: false, data: [true] })
    const row = await tx.find(finish, { id: 'a', isDone: true, mark: '!' })
    assert.deepEqual(row, { body: '!', data: [true] })
    assert.deepEqual(await tx.list(finish, { id: 'a', isDone: true, mark: '!' }), [])
    assert.equal(rowsChanged(await tx.update(notes).set({ seq: 9 })), 1)
    assert.equal(rowsChanged(await tx.run(sql`update notes set seq = 10 where seq = 0`)), 0)
  })
})

test('a prepared statement of raw SQL returns objects by column name, on threads too', async (t) => {
  const store = await openTestStore(t)
  await store.write((tx) => tx.insert(notes).values({ id: 'a', seq: 5 }))
  assert.deepEqual(await store.read.find(countBySql, { after: 1 }), { total: 1 })
  assert.deepEqual(await store.scan.list(countBySql, { after: 5 }), [{ total: 0 }])
  assert.deepEqual(await store.scan.list(listAfter, { after: 1 }), [{ id: 'a', isDone: false }])
})

test('raw queries return objects, and arrays from `values`', async (t) => {
  const store = await openTestStore(t)
  for (const db of [store.read, store.scan]) {
    assert.deepEqual(await db.all(sql`select 1 as one, ${true} as yes`), [{ one: 1, yes: 1 }])
    assert.deepEqual(await db.get(sql`select 2 as two`), { two: 2 })
    assert.deepEqual(await db.values(sql`select 3, 4`), [[3, 4]])
  }
})

test('a missing value of a statement is a TypeError', async (t) => {
  const store = await openTestStore(t)
  await assert.rejects(store.read.find(findNote, {}), TypeError)
  await assert.rejects(store.read.find(findNote), /needs a value for "id"/)
})

test('a statement works on several stores and is built once', async (t) => {
  let built = 0
  const counted = statement((db) => {
    built += 1
    return db.select({ id: notes.id }).from(notes)
  })
  assert.equal(built, 0)
  const stores = [await openTestStore(t), await openTestStore(t)]
  for (const [index, store] of stores.entries()) {
    await store.write((tx) => tx.insert(notes).values({ id: `${index}`, seq: index }))
    assert.deepEqual(await store.read.list(counted), [{ id: `${index}` }])
  }
  assert.equal(built, 1)
})

test('a join is mapped as drizzle maps it', async (t) => {
  const store = await openTestStore(t)
  const joined = statement((db) => {
    const other = db.$with('other').as(db.select({ id: notes.id, seq: notes.seq }).from(notes))
    return db
      .with(other)
      .select({ note: { id: notes.id, isDone: notes.isDone }, other: { seq: other.seq } })
      .from(notes)
      .leftJoin(other, eq(other.seq, sql`${notes.seq} + 1`))
      .orderBy(asc(notes.seq))
  })
  await store.write(async (tx) => {
    await tx.insert(notes).values([
      { id: 'a', seq: 1 },
      { id: 'b', seq: 2, isDone: true },
    ])
    const rows = await tx.list(joined)
    assert.deepEqual(rows[0], { note: { id: 'a', isDone: false }, other: { seq: 2 } })
    assert.deepEqual(rows[1]?.note, { id: 'b', isDone: true })
  })
})

test('any text may be the key of a JSON value', async (t) => {
  const store = await openTestStore(t)
  const property = fc.asyncProperty(fc.string({ unit: 'grapheme' }), async (key) => {
    const id = 'x'
    await store.write(async (tx) => {
      await tx.delete(notes)
      await tx.insert(notes).values({ id, seq: 1, data: { other: 1, [key]: 'found' } })
    })
    const rows = await store.read.select({ value: jsonValue(notes.data, key) }).from(notes)
    assert.deepEqual(rows, [{ value: 'found' }])
  })
  const examples: [string][] = [['a.b'], ['"'], ['\\'], ['$'], ['[0]'], [''], ["'"], ['é😀']]
  await fc.assert(property, { numRuns: 60, examples })
})

test('many rows are inserted by few statements, in their order and through the encoders', async (t) => {
  const store = await openTestStore(t)
  const rows = Array.from({ length: 77 }, (_, index) => {
    return { id: `note ${index}`, seq: index, isDone: index % 2 === 1, data: { index } }
  })
  const made: string[] = []
  await store.write(async (tx) => {
    await tx.insertRows(insertNote, [])
    await tx.insertRows(insertNote, rows)
    const { textOfRows } = insertNote.compiled()
    made.push(textOfRows(1), textOfRows(2))
  })
  assert.equal(made[1], `${made[0]}, ${made[0]?.slice(made[0].indexOf('values ') + 7)}`)
  const stored = await store.read.select().from(notes).orderBy(sql`rowid`).all()
  assert.deepEqual(
    stored,
    rows.map((row) => ({ ...row, body: '' })),
  )
})

test('rows that conflict are changed, whether one or many are inserted', async (t) => {
  const store = await openTestStore(t)
  const save = statement((db) =>
    db
      .insert(notes)
      .values({ id: parameter('id'), seq: parameter('seq') })
      .onConflictDoUpdate({ target: notes.id, set: { seq: sql`excluded.seq + 100` } }),
  )
  const rows = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ id: `note ${index}`, seq: index }))
  await store.write((tx) => tx.insertRows(save, rows(1)))
  await store.write((tx) => tx.insertRows(save, rows(3)))
  const stored = await store.read.select({ seq: notes.seq }).from(notes).orderBy(notes.id).all()
  assert.deepEqual(
    stored.map(({ seq }) => seq),
    [100, 1, 2],
  )
})

test('an insert of rows, also of one, needs a statement that ends with one row', async (t) => {
  const store = await openTestStore(t)
  const row = { isDone: true, id: 'a', seq: 1, mark: '!' }
  const saveSeq = statement((db) =>
    db
      .insert(notes)
      .values({ id: parameter('id'), seq: parameter('seq') })
      .onConflictDoUpdate({ target: notes.id, set: { seq: parameter('seq') } }),
  )
  for (const insert of [finish, saveSeq]) {
    for (const rows of [[row], [row, row]]) {
      await assert.rejects(
        store.write((tx) => tx.insertRows(insert, rows)),
        TypeError,
      )
    }
  }
})
