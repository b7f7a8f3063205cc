import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { readPair } from '../../../../src/config/certificates/pair.ts'
import {
  findCurrent,
  findState,
  prepareFolder,
  writeCertificate,
  writeState,
} from '../../../../src/features/operation/acme/folder.ts'
import { makeCertificate } from '../../../fakes/certificate.ts'

const origin = { directoryUrl: 'https://acme.example.test/dir', domains: ['a.test', 'b.test'] }

async function openFolder(t: TestContext) {
  const parent = await mkdtemp(path.join(tmpdir(), 'pillarbox-acme-'))
  t.after(() => rm(parent, { recursive: true }))
  const folder = path.join(parent, 'acme')
  await prepareFolder(folder)
  return folder
}

test('a certificate and its key are one file, which nobody else can read', async (t) => {
  const folder = await openFolder(t)
  assert.equal(await findCurrent(folder), undefined)
  const { cert, key } = makeCertificate(origin.domains)
  await writeCertificate(folder, origin, { key, chain: cert })
  const file = path.join(folder, 'certificate.pem')
  assert.equal((await stat(folder)).mode & 0o777, 0o700)
  assert.equal((await stat(file)).mode & 0o777, 0o600)
  assert.deepEqual(await readdir(folder), ['certificate.pem'])
  const pair = readPair({ certFile: file, keyFile: file, isOrdered: true })
  assert.equal(String(pair.cert), cert)
  assert.equal(String(pair.key), key)
  const current = await findCurrent(folder)
  assert.equal(current?.directoryUrl, origin.directoryUrl)
  assert.deepEqual(current?.domains, origin.domains)
})

test('what a kill leaves behind in a replacement is removed, and the old pair is used', async (t) => {
  const folder = await openFolder(t)
  const { cert, key } = makeCertificate(origin.domains)
  await writeCertificate(folder, origin, { key, chain: cert })
  await writeFile(
    path.join(folder, 'certificate.pem.0123456789abcdef.unfinished'),
    key.slice(0, 40),
  )
  await prepareFolder(folder)
  assert.deepEqual(await readdir(folder), ['certificate.pem'])
  assert.equal((await findCurrent(folder))?.directoryUrl, origin.directoryUrl)
})

test('a certificate of another key, or a broken file, counts as none', async (t) => {
  const folder = await openFolder(t)
  const [one, other] = [makeCertificate(origin.domains), makeCertificate(origin.domains)]
  await writeCertificate(folder, origin, { key: one.key, chain: other.cert })
  assert.equal(await findCurrent(folder), undefined)
  const file = path.join(folder, 'certificate.pem')
  await writeFile(file, (await readFile(file, 'utf8')).slice(0, 300))
  assert.equal(await findCurrent(folder), undefined)
})

test('the state of failed orders outlasts a restart; a broken one counts as none', async (t) => {
  const folder = await openFolder(t)
  assert.equal(await findState(folder), undefined)
  const state = { settings: 'a', failures: 3, nextAttemptAt: 1_000, fault: 'It failed.' }
  await writeState(folder, state)
  assert.deepEqual(await findState(folder), state)
  for (const text of ['', '{', '[]', 'null', '{"failures":"3"}']) {
    await writeFile(path.join(folder, 'state.json'), text)
    assert.equal(await findState(folder), undefined, text)
  }
  await writeState(folder, undefined)
  assert.deepEqual(await readdir(folder), [])
})
