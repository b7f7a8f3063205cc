/** Exports of a project: all of it, none of another, and no secret. */
import assert from 'node:assert/strict'
import { mkdir, readdir, readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { DUTIES } from '../../../../src/core/areas.ts'
import { loadInboundMessage } from '../../../../src/features/incoming/receiving/inbound-messages.ts'
import {
  CONTENTS,
  listErasedTables,
  listParts,
  QUEUE,
} from '../../../../src/features/operation/erasure/erase-rows.ts'
import { exportProject } from '../../../../src/features/operation/export/export-project.ts'
import {
  listExported,
  listLeftOut,
  READING_ORDER,
} from '../../../../src/features/operation/export/tables.ts'
import { listSealed } from '../../../../src/features/operation/seals/seals.ts'
import { writeImageFile } from '../../../../src/features/tenancy/uploads/image-files.ts'
import { openConnection } from '../../../../src/store/connection.ts'
import { sql } from '../../../../src/store/drizzle.ts'
import { addProject, openTestCore, type TestCore, trustDomain } from '../../../core.ts'
import { temporaryFolder } from '../backup/work.ts'
import { fillProject } from '../erasure/fill.ts'

const { signal } = new AbortController()

async function nameOf(t: TestContext): Promise<string> {
  return path.join(await temporaryFolder(t), 'export')
}

async function run(core: TestCore, t: TestContext, projectId: string) {
  const folder = await nameOf(t)
  const { config, now } = core
  return exportProject({ config, now, signal, tables }, { projectId, folder })
}

/** Domains of `fillProject` have no real keys. */
async function makeDomainsReal(core: TestCore): Promise<void> {
  const { id } = await addProject(core)
  const domainId = await trustDomain(core, id, 'real.test')
  await core.store.write(async (tx) => {
    await tx.run(sql`update domains set (rsa_public_key, ed25519_public_key) =
      (select rsa_public_key, ed25519_public_key from domains where id = ${domainId})`)
  })
}

async function readRows(folder: string, name: string): Promise<Record<string, unknown>[]> {
  const text = await readFile(path.join(folder, `${name}.ndjson`), 'utf8')
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))
}

/** The names of tables in the database. */
const { tables } = DUTIES
const EXPORTED = listExported(tables)
const LEFT_OUT = listLeftOut(tables)

async function exportedNames(core: TestCore): Promise<string[]> {
  const rows = await core.store.read.all<{ name: string }>(
    sql`select name from sqlite_schema where type = 'table'`,
  )
  const all = new Set(rows.map(({ name }) => name))
  const { getTableName } = (await import('drizzle-orm')) as typeof import('drizzle-orm')
  return EXPORTED.map(({ table }) => getTableName(table)).filter((name) => all.has(name))
}

test('every table with rows of projects is exported, or left out with a reason', async (t) => {
  const core = await openTestCore(t)
  const names = await exportedNames(core)
  assert.equal(names.length, EXPORTED.length)
  const parts = [QUEUE, CONTENTS, ...listParts(tables, 'deletion')].map(({ table }) => table)
  const columns = await core.store.read.all<{ name: string }>(
    sql`select m.name from sqlite_schema m, pragma_table_info(m.name) c
      where m.type = 'table' and c.name = 'project_id'`,
  )
  const wanted = new Set([
    ...parts,
    ...listErasedTables(tables, 'owner'),
    ...listErasedTables(tables, 'never'),
    ...columns.map(({ name }) => name),
  ])
  const absent = [...wanted].filter((name) => !names.includes(name) && !(name in LEFT_OUT))
  assert.deepEqual(absent, [])
  assert.deepEqual(
    names.filter((name) => name in LEFT_OUT),
    [],
  )
  assert.deepEqual(
    Object.keys(LEFT_OUT).filter((name) => !wanted.has(name)),
    [],
  )
})

test('an export has the rows of the project in every file, and none of another project', async (t) => {
  const core = await openTestCore(t)
  const mine = await addProject(core)
  const other = await addProject(core, 'Secretive')
  const fill = (projectId: string, userId: string, others: string) =>
    fillProject(core.store, { projectId, userId, others })
  await fill(mine.id, mine.ownerId, other.id)
  await fill(other.id, other.ownerId, mine.id)
  await makeDomainsReal(core)
  const { folder, rows } = await run(core, t, mine.id)
  const empty = Object.entries(rows).flatMap(([file, count]) => (count === 0 ? [file] : []))
  assert.deepEqual(empty, [])
  for (const name of await readdir(folder)) {
    const file = path.join(folder, name)
    if (!(await stat(file)).isFile()) continue
    assert.equal((await stat(file)).mode & 0o777, 0o600, name)
    const text = await readFile(file, 'utf8')
    assert.equal(text.includes(other.id), false, name)
    assert.equal(text.includes(other.ownerAddress), false, name)
  }
  const [member] = await readRows(folder, 'users')
  assert.deepEqual(member, { id: mine.ownerId, email: mine.ownerAddress })
})

test('records have the fields of the API, and instants are texts', async (t) => {
  const core = await openTestCore(t)
  const project = await addProject(core)
  await core.store.write(async (tx) => {
    await tx.run(sql`insert into contacts (id, project_id, email, subscribed, data, created_at, updated_at)
      values ('c1', ${project.id}, 'ada@example.org', 1, '{"city":"Rome"}', 0, 1000)`)
  })
  const { folder } = await run(core, t, project.id)
  const [contact] = await readRows(folder, 'contacts')
  assert.equal(contact?.email, 'ada@example.org')
  assert.equal(contact?.subscribed, true)
  assert.deepEqual(contact?.data, { city: 'Rome' })
  assert.equal(contact?.createdAt, '1970-01-01T00:00:00.000Z')
  const [record] = await readRows(folder, 'project')
  assert.equal(record?.name, 'Shop')
  const manifest = JSON.parse(await readFile(path.join(folder, 'manifest.json'), 'utf8'))
  assert.equal(manifest.tables['contacts.ndjson'].rows, 1)
  const files = Object.keys(manifest.tables)
  assert.deepEqual(files.slice(0, 3), ['project.ndjson', 'memberships.ndjson', 'users.ndjson'])
  const counts = files.indexOf('event_counts.ndjson')
  assert.ok(counts > files.indexOf('usage_months.ndjson'))
  assert.equal(files[counts + 1], 'api_requests.ndjson')
  const unnamed = files.slice(counts + 2).map((file) => path.parse(file).name)
  for (const name of unnamed) assert.equal(READING_ORDER.includes(name), false, name)
  assert.deepEqual(manifest.leftOut, LEFT_OUT)
})

test('no sealed secret, digest or password hash is inside', async (t) => {
  const core = await openTestCore(t)
  const project = await addProject(core)
  await trustDomain(core, project.id, 'example.test')
  await fillProject(core.store, {
    projectId: project.id,
    userId: project.ownerId,
    others: (await addProject(core)).id,
  })
  await makeDomainsReal(core)
  const secrets: string[] = []
  for (const { table, columns } of listSealed(tables)) {
    const found = await core.store.read.select(columns).from(table).all()
    secrets.push(
      ...found
        .flatMap((row) => Object.values(row))
        .filter((one) => one !== null)
        .map(String),
    )
  }
  const rows = await core.store.read.all<{ text: string }>(
    sql`select secret_digest as text from projects
      union select password_hash from users union select digest from invitations`,
  )
  secrets.push(...rows.map(({ text }) => text))
  const { folder } = await run(core, t, project.id)
  const texts = await Promise.all(
    EXPORTED.map(({ name }) => readFile(path.join(folder, `${name}.ndjson`), 'utf8')),
  )
  // Fillings are short words, which other columns have, too.
  const long = secrets.filter((one) => one !== null && one.length > 20)
  assert.ok(long.length > 1)
  for (const secret of long)
    assert.equal(
      texts.some((text) => text.includes(secret)),
      false,
    )
  const fields = texts
    .flatMap((text) => text.split('\n').slice(0, -1))
    .flatMap((line) => Object.keys(JSON.parse(line)))
  assert.deepEqual(
    fields.filter(
      (name) => /secret|passwordHash|digest|privateKey/i.test(name) && !/LastUsedAt$/.test(name),
    ),
    [],
  )
})

test('images, large attachments and received mail are files', async (t) => {
  const core = await openTestCore(t)
  const project = await addProject(core)
  const image = await writeImageFile(core.config, [Buffer.from('the octets of an image')])
  const mailbox = JSON.stringify([
    { for: 'mailbox', address: 'a@b.test', projectId: project.id },
    { for: 'mailbox', address: 'x@y.test', projectId: 'another' },
  ])
  const attachments = JSON.stringify([
    {
      filename: 'a',
      contentType: 'text/plain',
      content: 'aGk=',
      contentId: null,
      disposition: 'inline',
    },
    {
      filename: 'b',
      contentType: 'text/plain',
      content: '',
      chunks: 2,
      contentId: null,
      disposition: 'inline',
    },
    {
      filename: 'c',
      contentType: 'text/plain',
      content: '',
      chunks: 1,
      contentId: null,
      disposition: 'inline',
    },
  ])
  await core.store.write(async (tx) => {
    await tx.run(sql`insert into uploads (name, project_id, file, filename, content_type, size_bytes, width, height, created_at)
      values ('abc.png', ${project.id}, ${image}, 'x.png', 'image/png', 22, 1, 1, 0)`)
    await tx.run(sql`insert into contents (id, project_id, subject, attachments, chunk_bytes, last_used_at, created_at)
      values ('k1', ${project.id}, 's', ${attachments}, 6, 0, 0)`)
    await tx.run(sql`insert into inbound_messages (id, received_at, state, reverse_path, recipients, client_address, client_name, size_bytes, raw, raw_chunks)
      values ('m1', 0, 'done', '', ${mailbox}, '192.0.2.1', 'x', 3, x'616263', 0),
        ('m2', 0, 'done', '', ${mailbox}, '192.0.2.1', 'x', 3, x'', 2),
        ('m3', 0, 'done', '', ${mailbox}, '192.0.2.1', 'x', 3, null, 0)`)
    for (const [owner, number, text] of [
      ['k1', 0, 'be'],
      ['k1', 1, 'e!'],
      ['k1', 2, 'sea'],
      ['m2', 0, 'one '],
      ['m2', 1, 'two'],
    ] as const) {
      await tx.run(sql`insert into chunks (owner_id, number, bytes)
        values (${owner}, ${number}, ${Buffer.from(text)})`)
    }
  })
  const { folder, files } = await run(core, t, project.id)
  const read = (...names: string[]) => readFile(path.join(folder, ...names), 'utf8')
  assert.equal(files, 5)
  assert.equal(await read('uploads', 'abc.png'), 'the octets of an image')
  assert.equal(await read('attachments', 'k1', '1'), 'bee!')
  assert.equal(await read('attachments', 'k1', '2'), 'sea')
  assert.equal(await read('received', 'm1.eml'), 'abc')
  assert.equal(await read('received', 'm2.eml'), 'one two')
  const received = await readRows(folder, 'received')
  assert.equal(received.length, 3)
  assert.equal(JSON.stringify(received).includes('x@y.test'), false, 'a mailbox of another project')
})

test('F10: a message whose links cannot be searched is withheld, and the rest is exported', async (t) => {
  const core = await openTestCore(t)
  const project = await addProject(core)
  const mailbox = JSON.stringify([{ for: 'mailbox', address: 'a@b.test', projectId: project.id }])
  await core.store.write(async (tx) => {
    await tx.run(sql`insert into inbound_messages (id, received_at, state, reverse_path, recipients, client_address, client_name, size_bytes, raw, raw_chunks)
      values ('m1', 0, 'failed', '', ${mailbox}, '192.0.2.1', 'x', 6, ${Buffer.from('broken')}, 0),
        ('m2', 0, 'done', '', ${mailbox}, '192.0.2.1', 'x', 3, ${Buffer.from('abc')}, 0)`)
  })
  failOn(t, 'broken')
  const { folder, files, withheld, rows } = await run(core, t, project.id)
  assert.deepEqual({ files, withheld }, { files: 1, withheld: ['m1'] })
  assert.equal(rows['received.ndjson'], 2)
  assert.deepEqual(await readdir(path.join(folder, 'received')), ['m2.eml'])
  const manifest = JSON.parse(await readFile(path.join(folder, 'manifest.json'), 'utf8'))
  assert.deepEqual(manifest.withheld, ['m1'])
  const shown = await loadInboundMessage(core, 'm1')
  assert.deepEqual([shown.raw, shown.isWithheld], [null, true])
  assert.equal((await loadInboundMessage(core, 'm2')).isWithheld, false)
})

/** Reading this text as a search for links reads it fails, as if it had no stack left. */
function failOn(t: TestContext, content: string): void {
  const original = Buffer.prototype.toString
  t.mock.method(Buffer.prototype, 'toString', function (this: Buffer, ...args: [BufferEncoding]) {
    const text = original.apply(this, args)
    if (text === content && args[0] === 'latin1') throw new RangeError('Maximum call stack size')
    return text
  })
}

test('an export is of one moment, beside writes', async (t) => {
  const core = await openTestCore(t)
  const project = await addProject(core)
  let isOver = false
  let count = 0
  const writing = (async () => {
    while (!isOver) {
      count += 1
      const id = `c${count}`
      await core.store.write(async (tx) => {
        await tx.run(sql`insert into contacts (id, project_id, email, subscribed, created_at, updated_at)
          values (${id}, ${project.id}, ${`${id}@example.org`}, 1, 0, 0)`)
        await tx.run(sql`insert into events (id, project_id, name, contact_id, data, created_at)
          values (${id}, ${project.id}, 'made', ${id}, '{}', 0)`)
      })
    }
  })()
  const { rows } = await run(core, t, project.id)
  isOver = true
  await writing
  assert.equal(rows['contacts.ndjson'], rows['events.ndjson'])
})

test('an export removes no folder but its own', async (t) => {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  const { config, now } = core
  const folder = await nameOf(t)
  const other = `${folder}.partial`
  await mkdir(other)
  await exportProject({ config, now, signal, tables }, { projectId, folder })
  await assert.rejects(
    exportProject({ config, now, signal, tables }, { projectId: 'unknown', folder: `${folder}2` }),
    { code: 'RESOURCE_NOT_FOUND' },
  )
  assert.deepEqual(
    await readdir(path.dirname(folder)),
    [folder, other].map((each) => path.basename(each)),
  )
})

test('an unknown project, a used folder and another schema are refused, and leave nothing', async (t) => {
  const core = await openTestCore(t)
  const project = await addProject(core)
  const { config, now } = core
  const folder = await nameOf(t)
  const call = (projectId: string) =>
    exportProject({ config, now, signal, tables }, { projectId, folder })
  await assert.rejects(call('unknown'), { code: 'RESOURCE_NOT_FOUND' })
  assert.deepEqual(await readdir(path.dirname(folder)), [])
  await call(project.id)
  await assert.rejects(call(project.id), { code: 'CONFLICT' })
  const connection = openConnection({ path: config.database.file, busyTimeoutMs: 1000 })
  t.after(() => connection.close())
  const version = Number(connection.value('PRAGMA user_version')())
  connection.script(`PRAGMA user_version = ${version + 1}`)
  await assert.rejects(run(core, t, project.id), { code: 'CONFLICT' })
  connection.script(`PRAGMA user_version = ${version}`)
})

test('S30: headers of steps that authenticate are masked', async (t) => {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  const config = JSON.stringify({
    ...{ url: 'https://hooks.test/in', method: 'POST' },
    headers: { Authorization: 'Bearer sentinel', 'X-Shop': 'one' },
  })
  await core.store.write(async (tx) => {
    await tx.run(sql`insert into workflows (id, project_id, name, trigger_type, created_at, updated_at)
      values ('w', ${projectId}, 'Hook', 'EVENT', 0, 0)`)
    await tx.run(sql`insert into workflow_steps
      (id, workflow_id, project_id, type, name, position, config, created_at, updated_at)
      values ('s', 'w', ${projectId}, 'WEBHOOK', 'Call', '{"x":0,"y":0}', ${config}, 0, 0)`)
  })
  const { folder } = await run(core, t, projectId)
  const [step] = await readRows(folder, 'workflow_steps')
  assert.deepEqual(Object(step?.config).headers, { Authorization: '***', 'X-Shop': 'one' })
})
