/**
 * The main file of the executable: unpacks the program and runs it. The program is compressed, because the pages of
 * the file that a process reads stay in its memory. A server has a cache with the code of all functions that its
 * start runs: those that V8 otherwise compiles when they are called take a fifth of a start. The cache for the other
 * commands has none of these, because a command calls few of them.
 */
import sea from 'node:sea'
import { debuglog } from 'node:util'
import { zstdDecompressSync } from 'node:zlib'
import { compileProgram, runProgram } from './program.ts'

/** Larger than the program, which is then unpacked in one piece. */
const CHUNK_BYTES = 32 * 1024 * 1024

const isServer = process.argv.includes('serve')
const code = zstdDecompressSync(readAsset('main.cjs.zst'), { chunkSize: CHUNK_BYTES })
const name = isServer ? 'serve.cache' : 'command.cache'
// Only the executable for the platform of the build has them.
const cache = sea.getAssetKeys().includes(name) ? readAsset(name) : undefined
const program = compileProgram(code.toString('latin1'), cache)
// For the smoke test: NODE_DEBUG=code-cache shows whether V8 takes the cache.
debuglog('code-cache')('refused: %s', program.cachedDataRejected)
runProgram(program, require)

function readAsset(name: string): Buffer {
  return Buffer.from(sea.getRawAsset(name) as ArrayBuffer)
}
