/**
 * The account at an authority. Each directory and external account has a key of its own, in
 * `<data_dir>/acme/account-<hash>.json`, made before the account is. Registering a key again returns
 * its account (RFC 8555 section 7.3.1), so the URL is asked for with each order and not kept.
 */
import { createHash, createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { hasCode } from '../../../base/errors.ts'
import type { AcmeConfig } from '../../../config/config.ts'
import { replaceFile } from '../../../config/replace-file.ts'
import { type AcmeClient, bindExternalAccount } from './client.ts'
import { AcmeFailure } from './failure.ts'

type AccountFile = { directoryUrl: string; email: string | null; key: string }

/** Returns the key of the account; makes it at the first time. @throws Error if the file is broken */
export async function loadAccountKey(acme: AcmeConfig): Promise<KeyObject> {
  const known = await readAccount(acme)
  if (known !== undefined) return createPrivateKey(known.key)
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  await writeAccount(acme, privateKey, null)
  return privateKey
}

/** Returns the URL of the account, which has the address of the configuration. @throws AcmeFailure */
export async function registerAccount(client: AcmeClient, acme: AcmeConfig): Promise<string> {
  const url = await client.resource('newAccount')
  if (url === undefined) throw new AcmeFailure('refused', 'the directory has no newAccount')
  const { accountKey } = client
  const binding =
    acme.eab === null
      ? {}
      : { externalAccountBinding: await bindExternalAccount(accountKey, acme.eab, url) }
  const contact = [`mailto:${acme.email}`]
  const payload = { termsOfServiceAgreed: true, contact, ...binding }
  const { status, headers } = await client.post(url, { payload, signer: null })
  const { location } = headers
  if (location === undefined) throw new AcmeFailure('refused', 'the authority names no account')
  const known = await readAccount(acme)
  if (known?.email === acme.email) return location
  // An account that existed already has kept its previous address.
  if (status === 200) await client.post(location, { payload: { contact }, signer: location })
  await writeAccount(acme, accountKey, acme.email)
  return location
}

async function readAccount(acme: AcmeConfig): Promise<AccountFile | undefined> {
  const text = await readFile(accountFile(acme), 'utf8').catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  })
  return text === undefined ? undefined : JSON.parse(text)
}

async function writeAccount(acme: AcmeConfig, key: KeyObject, email: string | null): Promise<void> {
  const pem = key.export({ type: 'pkcs8', format: 'pem' }).toString()
  const account: AccountFile = { directoryUrl: acme.directoryUrl, email, key: pem }
  await replaceFile(accountFile(acme), `${JSON.stringify(account, null, 2)}\n`)
}

function accountFile({ folder, directoryUrl, eab }: AcmeConfig): string {
  const digest = createHash('sha256')
    .update(`${directoryUrl}\n${eab?.kid ?? ''}`)
    .digest('hex')
  return path.join(folder, `account-${digest.slice(0, 16)}.json`)
}
