import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createDirectory } from '../../../src/features/ground/directory.ts'
import { newId } from '../../../src/store/ids.ts'
import { templates } from '../../../src/store/schema/messages.ts'
import { START } from '../../core.ts'
import { openSender, type Sender } from '../mail/messages/sender.ts'

async function addTemplate({ core, project }: Sender, length: number): Promise<string> {
  const id = newId()
  await core.store.write(async (tx) => {
    await tx.insert(templates).values({
      id,
      projectId: project.id,
      name: 'Large',
      subject: 'Hi',
      body: 'x'.repeat(length),
      fromAddress: 'shop@example.test',
      fromDomain: 'example.test',
      createdAt: START,
      updatedAt: START,
    })
  })
  return id
}

test('the cache is bounded in bytes, not only in entries', async (t) => {
  const sender = await openSender(t)
  const { keyring, store } = sender.core
  let reads = 0
  const read = {
    ...store.read,
    select: () => {
      reads += 1
      return store.read.select()
    },
  } as unknown as typeof store.read
  const directory = createDirectory({ store: { ...store, read }, keyring })
  const [small, one, two] = [
    await addTemplate(sender, 10),
    await addTemplate(sender, 9_000_000),
    await addTemplate(sender, 9_000_000),
  ]
  const find = (id: string) => directory.findTemplate(sender.project.id, id)
  await find(one)
  await find(one)
  assert.equal(reads, 1)
  await find(two)
  await find(small)
  await find(two)
  await find(small)
  assert.equal(reads, 3)
  await find(one)
  assert.equal(reads, 4)
})
