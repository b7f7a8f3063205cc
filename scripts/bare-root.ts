/**
 * A place to run the packaged executable in. As root on Linux: a chroot that holds glibc,
 * libstdc++ and libgcc_s and nothing else, as `nobody`. Elsewhere: an empty folder.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import os from 'node:os'
import path from 'node:path'

export type Place = {
  /** File and first arguments that start the executable there, with its configuration. */
  command: string[]
  /** No HOME, nothing of ours; PATH is what finds `chroot`. */
  env: NodeJS.ProcessEnv
  /** Says what kind of place it is. */
  description: string
  remove(): void
}

const nobody = 65534
const mayBeLinked = /^(ld-linux|lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s)\.so)/

/** `settings` is the text of the configuration file; its folder also holds `state/`, writable. */
export function makeBareRoot(executable: string, settings: string): Place {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'pillarbox-'))
  const state = path.join(folder, 'state')
  mkdirSync(state, { mode: 0o700 })
  writeFileSync(path.join(folder, 'pillarbox.toml'), settings)
  copyFileSync(executable, path.join(folder, path.basename(executable)))
  const isRoot = process.platform === 'linux' && process.getuid?.() === 0
  const place = isRoot ? makeChroot(executable, folder) : makeFolder(executable, folder)
  return { ...place, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

function makeChroot(executable: string, folder: string): Omit<Place, 'remove'> {
  const libraries = copyLibraries(executable, folder)
  chmodSync(folder, 0o755)
  chownSync(path.join(folder, 'state'), nobody, nobody)
  const chroot = ['chroot', `--userspec=${nobody}:${nobody}`, folder]
  return {
    command: [...chroot, `/${path.basename(executable)}`, '--config', '/pillarbox.toml'],
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
    description: `chroot, uid ${nobody}, no HOME, only ${libraries.join(' ')}`,
  }
}

function makeFolder(executable: string, folder: string): Omit<Place, 'remove'> {
  const file = path.join(folder, path.basename(executable))
  return {
    command: [file, '--config', path.join(folder, 'pillarbox.toml')],
    env: {},
    description: 'empty folder, no environment (the chroot is left out: it takes root on Linux)',
  }
}

/** What the loader wants, which must be no more than glibc, libstdc++ and libgcc_s. */
function copyLibraries(executable: string, folder: string): string[] {
  const listed = execFileSync('ldd', [executable], { encoding: 'utf8' })
  const files = [...listed.matchAll(/(\/\S+) \(0x/g)].map(([, file = '']) => file)
  for (const file of files) {
    assert.match(path.basename(file), mayBeLinked)
    mkdirSync(path.join(folder, path.dirname(file)), { recursive: true })
    copyFileSync(file, path.join(folder, file))
  }
  return files.map((file) => path.basename(file))
}
