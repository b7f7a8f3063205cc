import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BodyStream } from '../../../src/http/body/body-stream.ts'
import { type FormOptions, readMultipart } from '../../../src/http/body/multipart.ts'

const start = '--B\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n'
const PIECE = 64 * 1024

/** A form whose file has so many pieces; `taken` are those that were asked for. */
function formOf(pieces: number): BodyStream & { taken(): number } {
  let taken = 0
  return {
    contentType: 'multipart/form-data; boundary=B',
    sizeBytes: () => 0,
    taken: () => taken,
    async *read() {
      yield Buffer.from(start)
      for (; taken < pieces; taken += 1) yield Buffer.alloc(PIECE, 'x')
      yield Buffer.from('\r\n--B--\r\n')
    },
  }
}

const options: Omit<FormOptions, 'write'> = {
  fileField: 'file',
  fields: [],
  maxFileBytes: 100 * PIECE,
  refuse: () => undefined,
}

test('a form is read no faster than its file is written', async () => {
  const form = formOf(80)
  const { promise: room, resolve: makeRoom } = Promise.withResolvers<void>()
  let sizeBytes = 0
  const reading = readMultipart(form, {
    ...options,
    write: async (bytes) => {
      sizeBytes += bytes.length
      await room
    },
  })
  for (let turn = 0; turn < 200; turn += 1) await new Promise(setImmediate)
  assert.ok(form.taken() < 10, `${form.taken()} pieces were asked for`)
  makeRoom()
  assert.equal((await reading).file.filename, 'a.csv')
  assert.equal(sizeBytes, 80 * PIECE)
})

test('a failed write fails the form, and no further piece is written', async () => {
  let calls = 0
  const write = async () => {
    calls += 1
    throw new TypeError('no space')
  }
  await assert.rejects(readMultipart(formOf(30), { ...options, write }), /^TypeError: no space$/)
  assert.equal(calls, 1)
})

test('nothing is written after a form that was cut off has been refused', async () => {
  let isWriting = false
  const form: BodyStream = {
    ...formOf(0),
    async *read() {
      yield Buffer.from(start)
      yield Buffer.alloc(PIECE, 'x')
      await new Promise(setImmediate)
      throw new Error('gone')
    },
  }
  const write = async () => {
    isWriting = true
    for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate)
    isWriting = false
  }
  await assert.rejects(readMultipart(form, { ...options, write }), /gone/)
  assert.equal(isWriting, false)
})
