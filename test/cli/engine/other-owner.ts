/** A server whose files belong to another user than root, who runs the test. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, lstatSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { makeFolder } from '../../config/config-folder.ts'

/** Other users can read it, unlike a bundle in a folder of the test run. */
export const SOURCE = path.join(import.meta.dirname, '../../../src/main.ts')
const isRoot = process.geteuid?.() === 0
/** The uid of `nobody` on most systems. */
export const STRANGER = 65_534

/** A server of another user, and a folder that only root may look into. */
export function makeServer(settings: readonly string[] = [], uid = STRANGER) {
  const base = makeFolder()
  chmodSync(base, 0o755)
  const [etc, data, home] = ['etc', 'data', 'home'].map((name) => path.join(base, name)) as [
    string,
    string,
    string,
  ]
  for (const folder of [etc, data, home]) mkdirSync(folder, { mode: 0o700 })
  const file = path.join(etc, 'pillarbox.toml')
  const lines = [`data_dir = ${JSON.stringify(data)}`, '[backup]', 'min_free_bytes = 0']
  writeFileSync(file, [...lines, ...settings, ''].join('\n'), { mode: 0o600 })
  for (const name of [etc, data, file]) chownSync(name, uid, uid)
  return { etc, data, home, file }
}

/** A process of its own, which gives up root for good. */
export function pillarbox(
  {
    cwd,
    uid,
    env = {},
    source = SOURCE,
  }: { cwd: string; uid?: number; env?: Record<string, string>; source?: string },
  ...argv: string[]
) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [source, ...argv], {
    cwd,
    encoding: 'utf8',
    env: { PATH: process.env.PATH ?? '', ...env },
    ...(uid === undefined ? {} : { uid, gid: uid }),
  })
  return { status, out: stdout, err: stderr }
}

const canRun = (() => {
  if (!isRoot) return false
  const seen = spawnSync(process.execPath, ['-p', '1'], { uid: STRANGER, cwd: '/' })
  const source = spawnSync('test', ['-r', SOURCE], { uid: STRANGER })
  return seen.status === 0 && source.status === 0
})()
export const skipOther = canRun ? false : 'needs root, and sources that others can read'

/** Starts `serve`; `seen` gets the running process. Returns its exit status after SIGTERM, and its errors. */
export async function serveAs(
  { cwd, uid }: { cwd: string; uid?: number },
  seen: (child: ChildProcess) => void,
  ...argv: string[]
) {
  const child = spawn(process.execPath, [SOURCE, ...argv, 'serve'], {
    cwd,
    env: { PATH: process.env.PATH ?? '', PILLARBOX_HTTP__LISTEN: '127.0.0.1:0' },
    ...(uid === undefined ? {} : { uid, gid: uid }),
  })
  let err = ''
  child.stderr.on('data', (chunk) => {
    err += chunk
  })
  // At its exit the last of its errors may still be in the pipe.
  const ended = once(child, 'close')
  try {
    const ready = once(createInterface({ input: child.stdout }), 'line')
    await Promise.race([ready.then(() => seen(child)), ended])
    child.kill('SIGTERM')
    const [status] = await ended
    return { status, err }
  } finally {
    child.kill('SIGKILL')
  }
}

/** The entries of a folder, and the folder, that do not belong to the user. */
export function listForeign(folder: string, uid: number): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return ['.', ...names].filter((name) => lstatSync(path.join(folder, name)).uid !== uid)
}
