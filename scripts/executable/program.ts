/**
 * The bundled program as V8 compiles it. The executable and the build, which makes the code cache, must
 * compile the same text, because V8 takes a cache only for the text that it was made of.
 */
import { Script } from 'node:vm'

/** `code`: of characters of one byte. */
export function compileProgram(code: string, cachedData: Buffer | undefined): Script {
  const text = `(function(require,module,exports){${code}\n})`
  return new Script(text, { filename: 'main.cjs', ...(cachedData && { cachedData }) })
}

export function runProgram(script: Script, require: NodeJS.Require): void {
  const module = { exports: {} }
  script.runInThisContext()(require, module, module.exports)
}
