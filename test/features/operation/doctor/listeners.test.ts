import assert from 'node:assert/strict'
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { checkCertificates } from '../../../../src/config/certificates/check.ts'
import type { SettingValues } from '../../../../src/config/settings.ts'
import type { CheckContext } from '../../../../src/features/operation/doctor/check.ts'
import type { DoctorDeps } from '../../../../src/features/operation/doctor/deps.ts'
import { createFacts } from '../../../../src/features/operation/doctor/facts.ts'
import { certificatesCheck } from '../../../../src/features/operation/doctor/listeners.ts'
import { makeCertificate } from '../../../fakes/certificate.ts'

const NOBODY = 65534

test('a key that the server cannot read has the remedy of config check, which is not a renewal', async (t) => {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'pillarbox-doctor-'))
  t.after(() => rmSync(dataDir, { recursive: true }))
  const [certFile, keyFile] = [path.join(dataDir, 'cert.pem'), path.join(dataDir, 'key.pem')]
  const { cert, key } = makeCertificate(['mail.example.test'])
  writeFileSync(certFile, cert)
  writeFileSync(keyFile, key)
  chmodSync(keyFile, 0)
  const isRoot = process.geteuid?.() === 0
  if (isRoot) chownSync(dataDir, NOBODY, NOBODY)
  const tls = { certFile, keyFile }
  const config = {
    ...{ file: null, dataDir, baseUrl: 'http://localhost' },
    ...{ http: { tls: null }, delivery: { hostname: 'mail.example.test' } },
    inbound: { tls: null, listen: [] },
    submission: { tls, listen: [{ host: '127.0.0.1', port: 0, isTls: false }] },
  }
  const deps = { config, server: null, probes: {} } as unknown as DoctorDeps
  const values = {
    ...{ data_dir: dataDir, 'acme.email': null, 'acme.ca_file': null },
    ...{ 'submission.tls_cert': certFile, 'submission.tls_key': keyFile },
    ...{ 'http.tls_cert': null, 'inbound.tls_cert': null },
  } as unknown as SettingValues
  if (isRoot) process.seteuid?.(NOBODY)
  const facts = createFacts(deps)
  try {
    await facts.ownCertificates()
    const [problem] = checkCertificates(values, null)
    assert.match(problem?.remedy ?? '', /^run chown \S+ \S+key\.pem$/)
    const checked = await certificatesCheck.run({
      ...{ config, server: null, facts, now: Date.now },
    } as unknown as CheckContext)
    assert.equal(checked.status, 'failed')
    assert.equal(checked.fix, `R${problem?.remedy?.slice(1)}.`)
    assert.match(checked.evidence, /key\.pem/)
  } finally {
    if (isRoot) process.seteuid?.(0)
  }
})
