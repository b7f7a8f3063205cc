/**
 * A process of the build: writes the code of the program that V8 has compiled before the program runs, and starts
 * a server and writes the code that V8 has compiled by then. It runs with the flags of the executable, because a
 * cache is valid for the same flags only.
 *
 *   node FLAGS warm.ts make PROGRAM FOLDER ASSETS    ASSETS: names and files, as JSON
 *   node FLAGS warm.ts check PROGRAM FOLDER          fails when V8 refuses a cache
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import sea from 'node:sea'
import v8 from 'node:v8'
import { compileProgram, runProgram } from './program.ts'

const SETTINGS = "data_dir = 'state'\n[http]\nlisten = '127.0.0.1:0'\n[log]\nlevel = 'error'\n"

const [task, program = '', output = '', assets = '{}'] = process.argv.slice(2)
const code = readFileSync(program, 'latin1')
const [commandCache, serveCache] = ['command.cache', 'serve.cache'].map((name) =>
  path.join(output, name),
) as [string, string]
if (task === 'check') [commandCache, serveCache].forEach(check)
else await warm(JSON.parse(assets))

function check(file: string): void {
  const { cachedDataRejected } = compileProgram(code, readFileSync(file))
  if (cachedDataRejected !== false) throw new Error(`V8 refuses ${file}`)
}

async function warm(files: Record<string, string>): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'pillarbox-warm-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  const config = path.join(folder, 'pillarbox.toml')
  writeFileSync(config, SETTINGS, { mode: 0o600 })
  // Inside the executable; the flags that a server sets would be part of the cache.
  Object.assign(sea, { isSea: () => true, getAssetKeys: () => Object.keys(files), getRawAsset })
  v8.setFlagsFromString = () => undefined
  process.argv.splice(2, Number.POSITIVE_INFINITY, '--config', config, 'serve')
  const script = compileProgram(code, undefined)
  writeFileSync(commandCache, script.createCachedData())
  const ready = Promise.withResolvers<void>()
  process.stdout.write = () => {
    ready.resolve()
    return true
  }
  runProgram(script, createRequire(import.meta.url))
  await ready.promise
  writeFileSync(serveCache, script.createCachedData())
  process.kill(process.pid, 'SIGTERM')

  function getRawAsset(name: string): ArrayBuffer {
    return Uint8Array.from(readFileSync(files[name] ?? '')).buffer
  }
}
