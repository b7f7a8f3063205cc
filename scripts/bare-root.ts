/**
 * Makes a bare environment for the packaged executable. As root on Linux it is a chroot with glibc,
 * libstdc++ and libgcc_s only, entered as user `nobody`; elsewhere it is an empty folder.
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

export type BareRoot = {
  /** The command that starts the executable there with its configuration: file and arguments. */
  command: string[]
  /** Without HOME and without variables of this process; PATH finds `chroot`. */
  env: NodeJS.ProcessEnv
  /** Describes the environment in the output. */
  description: string
  remove(): void
}

const NOBODY = 65534
const ALLOWED_LIBRARIES = /^(ld-linux|lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s)\.so)/

/** `settings` is the text of the configuration file; its folder also holds `state/`, writable. */
export function makeBareRoot(executable: string, settings: string): BareRoot {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'pillarbox-'))
  const state = path.join(folder, 'state')
  mkdirSync(state, { mode: 0o700 })
  writeFileSync(path.join(folder, 'pillarbox.toml'), settings)
  copyFileSync(executable, path.join(folder, path.basename(executable)))
  const isRoot = process.platform === 'linux' && process.getuid?.() === 0
  const root = isRoot ? makeChroot(executable, folder) : makeFolder(executable, folder)
  return { ...root, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

function makeChroot(executable: string, folder: string): Omit<BareRoot, 'remove'> {
  const libraries = copyLibraries(executable, folder)
  chmodSync(folder, 0o755)
  chownSync(path.join(folder, 'state'), NOBODY, NOBODY)
  const chroot = ['chroot', `--userspec=${NOBODY}:${NOBODY}`, folder]
  return {
    command: [...chroot, `/${path.basename(executable)}`, '--config', '/pillarbox.toml'],
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
    description: `chroot, uid ${NOBODY}, no HOME, only ${libraries.join(' ')}`,
  }
}

function makeFolder(executable: string, folder: string): Omit<BareRoot, 'remove'> {
  const file = path.join(folder, path.basename(executable))
  return {
    command: [file, '--config', path.join(folder, 'pillarbox.toml')],
    env: {},
    description: 'empty folder, no environment (a chroot needs root on Linux)',
  }
}

/** Copies the libraries of the executable; only glibc, libstdc++ and libgcc_s are allowed. */
function copyLibraries(executable: string, folder: string): string[] {
  const listed = execFileSync('ldd', [executable], { encoding: 'utf8' })
  const files = [...listed.matchAll(/(\/\S+) \(0x/g)].map(([, file = '']) => file)
  for (const file of files) {
    assert.match(path.basename(file), ALLOWED_LIBRARIES)
    mkdirSync(path.join(folder, path.dirname(file)), { recursive: true })
    copyFileSync(file, path.join(folder, file))
  }
  return files.map((file) => path.basename(file))
}
