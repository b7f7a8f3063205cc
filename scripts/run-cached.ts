/**
 * Runs a bundle with all code that its first run has compiled. Node's own cache has the code that is
 * compiled before a file runs, which is the smaller part of what a start needs.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import v8 from 'node:v8'
import { constants, Script } from 'node:vm'
import { isMainThread, threadId } from 'node:worker_threads'

/** As Node wraps a file of CommonJS. */
const HEAD = '(function (exports, require, module, __filename, __dirname) { '

/** Runs the CommonJS `file`; the texts of bundles have characters of ASCII only. */
export function runCached(file: string): void {
  // V8 refuses what other flags have compiled; the tag tells them apart.
  const tag = v8.cachedDataVersionTag()
  const cache = `${file}.${tag.toString(16)}`
  const isMade = existsSync(cache)
  const script = new Script(`${HEAD}${readFileSync(file, 'latin1')}\n})`, {
    filename: file,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    ...(isMade ? { cachedData: readFileSync(cache) } : {}),
  })
  if (!isMade) {
    saveLater(() => {
      if (v8.cachedDataVersionTag() !== tag) return
      // Whoever reads it finds all of it or nothing.
      const own = `${cache}.${process.pid}-${threadId}`
      writeFileSync(own, script.createCachedData())
      renameSync(own, cache)
    })
  }
  const module = { exports: {} }
  const run = script.runInThisContext() as (...values: unknown[]) => void
  run(module.exports, createRequire(file), module, file, path.dirname(file))
}

/** The program at its end; a thread when it has loaded, because threads are terminated. */
function saveLater(save: () => void): void {
  if (!isMainThread) return void setImmediate(save)
  const { setFlagsFromString } = v8
  setFlagsFromString('--no-flush-bytecode')
  // With other flags the program could save nothing that later starts accept.
  v8.setFlagsFromString = () => undefined
  process.once('exit', () => {
    setFlagsFromString('--flush-bytecode')
    save()
  })
}
