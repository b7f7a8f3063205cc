/** Contacts, imports, exports and bulk work, by curl; `src/docs/contacts.md` describes them. */
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, it } from 'node:test'
import {
  addressOf,
  curl,
  eventsOf,
  filter,
  find,
  refused,
  save,
  serveFile,
  the,
  unlessCurl,
  untilDone,
} from './shared-client.ts'

serveFile()

describe('contacts', unlessCurl, () => {
  it('are saved, read, changed and deleted', async () => {
    const made = await save('ada', { data: { plan: 'pro', age: 36 } })
    assert.deepEqual(made._meta, { isNew: true, isUpdate: false })
    assert.equal(made.subscribed, true)
    const again = await save('ADA', { data: { age: 37, plan: null } })
    assert.deepEqual(again._meta, { isNew: false, isUpdate: true })
    assert.equal(again.id, made.id)
    const { body } = await curl('GET', `/contacts/${made.id}`)
    assert.deepEqual(body.data, { age: 37 })
    const patched = await curl('PATCH', `/contacts/${made.id}`, {
      body: { email: addressOf('ada.lovelace'), subscribed: false, data: { vip: true } },
    })
    assert.equal(patched.status, 200, patched.text)
    assert.equal(patched.body.email, addressOf('ada.lovelace'))
    assert.deepEqual(patched.body.data, { age: 37, vip: true })
    const cleared = await curl('PATCH', `/contacts/${made.id}`, { body: { data: null } })
    assert.equal(cleared.body.data, null)
    assert.deepEqual(
      (await eventsOf(made.id)).map(({ name }) => name),
      ['contact.unsubscribed'],
    )
    await save('taken')
    const clash = await curl('PATCH', `/contacts/${made.id}`, {
      body: { email: addressOf('taken') },
    })
    refused(clash, 409, 'CONFLICT')
    assert.equal((await curl('DELETE', `/contacts/${made.id}`)).status, 204)
    refused(await curl('GET', `/contacts/${made.id}`), 404, 'CONTACT_NOT_FOUND')
  })

  it('are listed page by page, newest first, with a total on the first', async () => {
    const names = ['p1', 'p2', 'p3', 'p4', 'p5']
    for (const name of names) await save(`page.${name}`)
    const search = encodeURIComponent(`.${the().tag}@`)
    const seen: string[] = []
    for (let cursor: string | null = '', page = 0; cursor !== null; page += 1) {
      const after = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`
      const { body } = await curl('GET', `/contacts?search=${search}&limit=2${after}`)
      seen.push(...body.data.map(({ email }: { email: string }) => email))
      assert.equal(body.total > 0, page === 0)
      assert.equal(body.hasMore, body.cursor !== null)
      cursor = body.cursor
    }
    assert.equal(new Set(seen).size, seen.length)
    assert.deepEqual(seen.slice(0, 5), names.map((name) => addressOf(`page.${name}`)).reverse())
    const sorted = await curl('GET', `/contacts?search=page.p&limit=5&sort=email&dir=asc`)
    const emails = sorted.body.data.map(({ email }: { email: string }) => email)
    assert.deepEqual(emails, [...emails].sort())
    refused(await curl('GET', '/contacts?limit=0'), 422, 'VALIDATION_ERROR', 'limit')
    refused(await curl('GET', '/contacts?cursor=garbage'), 422, 'VALIDATION_ERROR', 'cursor')
    assert.equal((await curl('GET', '/contacts?limit=5000')).body.data.length <= 100, true)
  })

  it('are looked up, five hundred at a time', async () => {
    await save('look')
    const emails = [addressOf('LOOK'), 'nobody@example.org']
    const { body } = await curl('POST', '/contacts/lookup', { body: { emails } })
    assert.deepEqual(body.found, [addressOf('LOOK')])
    assert.deepEqual(body.notFound, ['nobody@example.org'])
    for (const wrong of [[], Array.from({ length: 501 }, (_, at) => `a${at}@b.test`)]) {
      refused(
        await curl('POST', '/contacts/lookup', { body: { emails: wrong } }),
        422,
        'VALIDATION_ERROR',
        'emails',
      )
    }
  })

  it('have fields with types, coverage, values and usage, and fields can be deleted', async () => {
    const key = `k${the().tag}`
    await save('field.1', { data: { [key]: 'red' } })
    await save('field.2', { data: { [key]: 'blue' } })
    const { body } = await curl('GET', '/contacts/fields')
    const own = body.fields.find(({ field }: { field: string }) => field === `data.${key}`)
    assert.equal(own.type, 'string')
    assert.ok(own.coverage >= 0 && own.coverage <= 100)
    assert.equal(body.count, body.fields.length)
    const names = body.fields.map(({ field }: { field: string }) => field)
    assert.deepEqual(names, [...names].sort())
    const values = await curl('GET', `/contacts/fields/data.${key}/values?limit=10`)
    assert.deepEqual([...values.body.values].sort(), ['blue', 'red'])
    assert.equal(values.body.count, 2)
    const segment = await curl('POST', '/segments', {
      body: { name: key, type: 'DYNAMIC', condition: filter(`data.${key}`, 'equals', 'red') },
    })
    const usage = await curl('GET', `/contacts/fields/data.${key}/usage`)
    assert.deepEqual(usage.body.usedInSegments, [{ id: segment.body.id, name: key }])
    assert.deepEqual([usage.body.contactCount, usage.body.canDelete], [2, false])
    refused(await curl('DELETE', `/contacts/fields/data.${key}`), 400, 'BAD_REQUEST')
    await curl('DELETE', `/segments/${segment.body.id}`)
    const deleted = await curl('DELETE', `/contacts/fields/data.${key}`)
    assert.equal(deleted.body.deletedFrom, 2)
    assert.equal((await find('field.1')).data, null)
    refused(await curl('DELETE', '/contacts/fields/email'), 422, 'VALIDATION_ERROR')
  })

  it('of another project do not exist', async () => {
    const { id } = await save('mine')
    const key = the().strangerKey
    refused(await curl('GET', `/contacts/${id}`, { key }), 404, 'CONTACT_NOT_FOUND')
    refused(
      await curl('PATCH', `/contacts/${id}`, { key, body: { subscribed: false } }),
      404,
      'CONTACT_NOT_FOUND',
    )
    refused(await curl('DELETE', `/contacts/${id}`, { key }), 404, 'CONTACT_NOT_FOUND')
    const { body } = await curl('GET', '/contacts', { key })
    assert.deepEqual([body.data, body.total], [[], 0])
    assert.equal((await find('mine')).subscribed, true)
  })

  it('are one row each, even with concurrent writes', async () => {
    const writes = Array.from({ length: 12 }, (_, at) =>
      save('race', { data: { [`from${at}`]: at } }),
    )
    const ids = (await Promise.all(writes)).map(({ id }) => id)
    assert.equal(new Set(ids).size, 1)
    assert.equal(Object.keys((await find('race')).data).length, 12)
  })
})

describe('import and export', unlessCurl, () => {
  it('imports a CSV file, lists the rows that failed, and exports the same contacts', async () => {
    const file = path.join(the().folder, 'people.csv')
    const rows = [
      'Email ;Plan;Age;VIP;Subscribed',
      `${addressOf('csv.1')};pro;36;yes;1`,
      `${addressOf('csv.2')};"two\nlines; =1+1";007;no;`,
      'nobody;free;1;;',
      '',
      `${addressOf('csv.3')};=cmd;;;false`,
    ]
    await writeFile(file, `\uFEFF${rows.join('\r\n')}`)
    const { status, body } = await curl('POST', '/contacts/import', {
      form: [`file=@${file};type=text/csv`],
    })
    assert.equal(status, 202)
    assert.match(body.jobId, /^import-[0-9a-f-]{36}-\d+$/)
    const done = await untilDone(`/contacts/import/${body.jobId}`)
    assert.equal(done.body.state, 'completed', done.text)
    const { errors, ...counts } = done.body.result
    assert.deepEqual(
      [counts.totalRows, counts.successCount, counts.createdCount, counts.failureCount],
      [4, 3, 3, 1],
    )
    assert.equal(errors[0].email, 'nobody')
    assert.equal(errors[0].row, 4)
    // 007 makes the column text.
    assert.deepEqual((await find('csv.1')).data, { plan: 'pro', age: '36', vip: true })
    assert.equal((await find('csv.2')).data.age, '007')
    assert.equal((await find('csv.3')).subscribed, false)
    const exported = await curl('GET', `/contacts/export?search=csv.&subscribed=false`)
    assert.equal(exported.status, 200)
    assert.match(exported.headers, /content-type: text\/csv/i)
    assert.match(exported.text, /'=cmd/)
    refused(await curl('GET', '/contacts/import/import-unknown-1'), 404, 'RESOURCE_NOT_FOUND')
    refused(
      await curl('GET', `/contacts/import/${body.jobId}`, { key: the().strangerKey }),
      404,
      'RESOURCE_NOT_FOUND',
    )
    refused(
      await curl('POST', '/contacts/import', { form: ['other=1'] }),
      422,
      'VALIDATION_ERROR',
      'file',
    )
  })

  it('suppresses a list', async () => {
    const file = path.join(the().folder, 'left.csv')
    await save('left.1')
    await writeFile(
      file,
      `email,reason\n${addressOf('left.1')},COMPLAINT\n${addressOf('left.2')},\n`,
    )
    const { status, body } = await curl('POST', '/suppressions/import', {
      form: [`file=@${file};type=text/csv`],
    })
    assert.equal(status, 202)
    const done = await untilDone(`/suppressions/import/${body.jobId}`)
    assert.equal(done.body.state, 'completed', done.text)
    assert.equal(done.body.result.successCount, 2)
    const list = await curl('GET', `/suppressions?search=left.`)
    const own = list.body.data.filter(({ email }: { email: string }) => email.includes(the().tag))
    assert.deepEqual(own.map(({ reason }: { reason: string }) => reason).sort(), [
      'COMPLAINT',
      'MANUAL',
    ])
    assert.equal((await find('left.1')).subscribed, false)
  })
})

describe('bulk work', unlessCurl, () => {
  it('subscribes, unsubscribes and deletes, by ids and by query', async () => {
    const made = [
      await save('bulk.1'),
      await save('bulk.2'),
      await save('bulk.3', { subscribed: false }),
    ]
    const ids = made.map(({ id }) => id)
    const run = async (operation: string, body: unknown) => {
      const answer = await curl('POST', `/contacts/bulk-${operation}`, { body })
      assert.equal(answer.status, 202, answer.text)
      assert.match(answer.body.jobId, /^bulk-/)
      const done = await untilDone(`/contacts/bulk/${answer.body.jobId}`)
      assert.equal(done.body.state, 'completed', done.text)
      assert.equal(done.body.progress, 100)
      const { successCount, unchangedCount, failureCount } = done.body.result
      return [successCount, unchangedCount, failureCount]
    }
    assert.deepEqual(
      await run('unsubscribe', { contactIds: [...ids, crypto.randomUUID()] }),
      [2, 1, 1],
    )
    const excludeIds = [ids[2]]
    const bulkOnly = { search: `bulk.1.${the().tag}`, subscribed: false }
    assert.deepEqual(
      await run('subscribe', { mode: 'query', filter: bulkOnly, excludeIds }),
      [1, 0, 0],
    )
    assert.equal((await find('bulk.1')).subscribed, true)
    assert.equal((await find('bulk.2')).subscribed, false)
    assert.deepEqual(
      (await eventsOf(ids[0])).map(({ name }) => name),
      ['contact.subscribed', 'contact.unsubscribed'],
    )
    assert.deepEqual(await run('delete', { mode: 'ids', contactIds: ids }), [3, 0, 0])
    assert.equal(await find('bulk.1'), undefined)
    refused(
      await curl('POST', '/contacts/bulk-delete', { body: { contactIds: [] } }),
      422,
      'VALIDATION_ERROR',
    )
    refused(await curl('POST', '/contacts/bulk-delete', { body: {} }), 422, 'VALIDATION_ERROR')
  })
})
