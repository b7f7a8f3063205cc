/** Checks before the start that certificates and keys can be read and belong together. */
import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import { describeError } from '../../errors.ts'
import type { Problem } from '../problems.ts'
import type { SettingKey, SettingValues } from '../settings.ts'
import { describePairFault } from './pair-fault.ts'

const SECTIONS = ['http', 'inbound', 'submission'] as const

export function checkCertificates(values: SettingValues): Problem[] {
  return [...checkDirectoryRoots(values), ...checkListeners(values)]
}

function checkDirectoryRoots(values: SettingValues): Problem[] {
  const [key, file] = ['acme.ca_file', values['acme.ca_file']] as const
  if (file === null || values['acme.email'] === null) return []
  const problems: Problem[] = []
  const ca = readPem(key, file, problems)
  if (ca === undefined || ca.includes('-----BEGIN CERTIFICATE-----')) return problems
  return [{ key, found: 'no certificate', expected: 'certificates in PEM', where: null }]
}

function checkListeners(values: SettingValues): Problem[] {
  return SECTIONS.flatMap((section) => {
    const [certKey, keyKey] = [`${section}.tls_cert`, `${section}.tls_key`] as const
    const [certFile, keyFile] = [values[certKey], values[keyKey]]
    if (certFile === null || keyFile === null) return []
    if (section === 'submission' && certFile === values['inbound.tls_cert']) return []
    const problems: Problem[] = []
    const cert = readPem(certKey, certFile, problems)
    const key = readPem(keyKey, keyFile, problems)
    if (cert !== undefined && key !== undefined) problems.push(...checkPair(certKey, { cert, key }))
    return problems
  })
}

function readPem(key: SettingKey, file: string, problems: Problem[]): Buffer | undefined {
  try {
    return readFileSync(file)
  } catch (error) {
    const found = describeError(error)
    problems.push({ key, found, expected: 'a readable PEM file', where: null })
    return undefined
  }
}

function checkPair(key: SettingKey, pair: { cert: Buffer; key: Buffer }): Problem[] {
  try {
    createSecureContext(pair)
    return []
  } catch (error) {
    const expected = 'a PEM certificate chain and the private key that belongs to it'
    return [{ key, found: describePairFault(error), expected, where: null }]
  }
}
