/** Runs OpenDKIM as the milter of a Postfix: it signs all mail of `example.test` with RSA-2048. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { findFreePort, waitForPort } from './postfix.ts'

type OpenDkim = { port: number; stop(): Promise<void> }

export function isOpenDkimInstalled(): boolean {
  return spawnSync('which', ['opendkim']).status === 0
}

export async function startOpenDkim(): Promise<OpenDkim> {
  const folder = mkdtempSync(path.join(tmpdir(), 'pillarbox-opendkim-'))
  const port = await findFreePort()
  const child = spawn('opendkim', ['-f', '-x', configure(folder, port)], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  await waitForPort(port)
  return {
    port,
    stop: async () => {
      await end(child)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Writes the key and the configuration, and returns the configuration's file. */
function configure(folder: string, port: number): string {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 })
  const keyFile = path.join(folder, 'key.pem')
  writeFileSync(keyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 })
  const settings = [
    'Mode s',
    'Domain example.test',
    'Selector bench',
    `KeyFile ${keyFile}`,
    `Socket inet:${port}@127.0.0.1`,
    'Canonicalization relaxed/relaxed',
    'OversignHeaders From',
    'InternalHosts 127.0.0.1',
    'Syslog no',
    'RequireSafeKeys no',
  ]
  const file = path.join(folder, 'opendkim.conf')
  writeFileSync(file, `${settings.join('\n')}\n`)
  return file
}

async function end(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit')
  child.kill()
  await exited
}
