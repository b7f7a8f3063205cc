/**
 * Every message of the corpus (../shared/corpus) says the same, whatever its way in: words, subject,
 * names and files.
 */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import {
  composeRequest,
  composeSubmitted,
  type Seen,
  seeReceived,
  submit,
  withReportTypes,
} from './ways.ts'

const CORPUS = path.join(import.meta.dirname, '../../../../shared/corpus')
const skip = existsSync(CORPUS) ? false : 'the corpus ../shared/corpus is not there'

/**
 * With CRLF line ends, a sender (the From field of many a bounce names no address), and the fields that
 * this test is about: some bounces have fields that no program may submit.
 */
function readCorpus(file: string): Buffer {
  const text = readFileSync(file).toString('latin1').replace(/\r?\n/g, '\r\n').replaceAll('\0', '')
  const end = text.indexOf('\r\n\r\n')
  const fields = text.slice(0, end).split(/\r\n(?![ \t])/)
  const senders = fields.filter((field) => /^from:/i.test(field))
  const from =
    senders.length === 1 && /<[\w.-]+@[\w.-]+>\s*$/.test(senders[0] ?? '') ? senders : [SENDER]
  const own = fields.filter((field) => /^(?:subject|mime-version|content-[\w-]+):/i.test(field))
  return Buffer.from([...from, ...own].join('\r\n') + text.slice(end), 'latin1')
}

const SENDER = 'From: Someone <someone@example.net>'

for (const folder of ['reports', 'bounces']) {
  test(`the messages of ${folder} say the same on each way in`, { skip }, async () => {
    const names = readdirSync(path.join(CORPUS, folder)).filter((name) => name.endsWith('.eml'))
    assert.ok(names.length > 5)
    for (const name of names) {
      const raw = readCorpus(path.join(CORPUS, folder, name))
      const { warnings: _, ...received } = await seeReceived(raw)
      const submitted = await submit(raw)
      assert.deepEqual(
        await see(composeSubmitted(submitted), received),
        received,
        `${name} submitted`,
      )
      if (submitted.seal !== null) continue
      // A request cannot have an empty file.
      const files = received.files.filter((file) => !/ 0 [^ ]*$/.test(file))
      const requested = { ...received, files }
      assert.deepEqual(
        await see(composeRequest(submitted), requested),
        requested,
        `${name} by the API`,
      )
    }
  })
}

async function see(raw: Buffer, expected: Seen): Promise<Seen> {
  const { warnings, ...seen } = await seeReceived(raw)
  assert.deepEqual(warnings, [], 'what is composed is whole')
  return { ...seen, files: withReportTypes(seen.files, expected.files) }
}
