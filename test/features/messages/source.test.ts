import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  contentSizes,
  createContentShelf,
  loadTexts,
} from '../../../src/features/messages/source.ts'
import { type Desk, openDesk } from './desk.ts'

async function sendWith(desk: Desk, content: string): Promise<string> {
  const file = { filename: 'a.bin', contentType: 'a/b', contentId: null } as const
  const attachments = [{ ...file, disposition: 'attachment', content } as const]
  const { emails } = await desk.send({ body: 'ä', attachments })
  return (await desk.email(emails[0]?.email as string)).contentId
}

test('the size of a content is known without reading it, in bytes', async (t) => {
  const desk = await openDesk(t)
  const id = await sendWith(desk, 'x'.repeat(10_000))
  const sizes = await contentSizes(desk.core, [id, 'none'])
  const size = sizes.get(id) ?? 0
  assert.ok(size > 10_000 && size < 10_200, String(size))
  assert.equal(sizes.size, 1)
})

test('texts come without attachments, deliveries with them', async (t) => {
  const desk = await openDesk(t)
  const id = await sendWith(desk, 'aGk=')
  assert.deepEqual((await loadTexts(desk.core, [id, id, 'none'])).get(id)?.attachments, [])
  const loaded = await createContentShelf(desk.core).load([id, 'none'])
  assert.equal(loaded.get(id)?.attachments[0]?.content, 'aGk=')
  assert.equal(loaded.size, 1)
})

test('between large contents the event loop turns', async (t) => {
  const desk = await openDesk(t)
  const ids: string[] = []
  for (let index = 0; index < 3; index += 1) ids.push(await sendWith(desk, 'x'.repeat(300_000)))
  let turns = 0
  let isDone = false
  const count = () => {
    turns += 1
    if (!isDone) setImmediate(count)
  }
  const loading = createContentShelf(desk.core).load(ids)
  setImmediate(count)
  await loading
  isDone = true
  assert.ok(turns >= 2, String(turns))
})
