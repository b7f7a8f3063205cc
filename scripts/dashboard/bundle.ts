/**
 * The bundles of the dashboard. The bundler runs twice: first to see which modules each part loads, then with the
 * files joined that belong together (`chunks.ts`).
 */
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild'
import { joinFiles, type Loading, type Modules } from './chunks.ts'
import {
  FIRST_FILES,
  IN_FRAME,
  type Outputs,
  PART_FILES,
  SCREEN_FILES,
  SCREENS,
} from './screens.ts'

export const SOURCE = 'src/dashboard'

/** Scripts and style sheets that the page names. */
const ENTRIES = { theme: 'theme.ts', app: 'style/app.css' }
const MAIN = `${SOURCE}/main.tsx`
const FRAME_ENTRY = 'frame/frame.ts'
const FRAME = 'frame'
const LAZY = 'lazy'

const SHARED = {
  bundle: true,
  minify: true,
  target: 'es2022',
  legalComments: 'none',
  logLevel: 'warning',
} as const

const SPLIT = {
  ...SHARED,
  entryNames: '[name]-[hash]',
  chunkNames: '[name]-[hash]',
  splitting: true,
  format: 'esm',
  // Chromium then compiles all functions beside the main thread while the file arrives, and not one by one as they are called.
  banner: { js: '//# allFunctionsCalledOnLoad' },
  jsx: 'automatic',
  jsxImportSource: 'preact',
  metafile: true,
} as const satisfies BuildOptions

type Files = ReturnType<typeof joinFiles>

/** `main`, `theme`, `app`: the files that the page names. `outputs`: by file name. */
export type Bundles = { metafile: Metafile; outputs: Outputs } & Record<
  'main' | keyof typeof ENTRIES,
  string
>

/** Writes all files into the flat folder. @throws Error if the bundler warns */
export async function bundleApp(folder: string): Promise<Bundles> {
  const named = Object.entries(ENTRIES).map(([name, file]) => [name, `${SOURCE}/${file}`])
  const { metafile, warnings } = await build({
    ...SPLIT,
    entryPoints: { main: FRAME, ...Object.fromEntries(named) },
    outdir: folder,
    plugins: [joinedFiles(await findFiles(folder))],
  })
  if (warnings.length > 0) throw new Error('the bundler warned, see above')
  const outputs = flatten(metafile.outputs)
  const find = (isIt: (one: Outputs[string]) => boolean) => {
    const found = Object.entries(outputs).find(([, one]) => isIt(one))
    if (found === undefined) throw new Error('a file of the first page is missing')
    return found[0]
  }
  // All parts import the main script, so it is in the file that they share, and this one has nothing of its own.
  const empty = find(({ entryPoint }) => entryPoint === `${FRAME}:${MAIN}`)
  delete outputs[empty]
  await rm(path.join(folder, empty))
  return {
    metafile,
    outputs,
    main: find(({ inputs }) => MAIN in inputs),
    theme: find(({ entryPoint }) => entryPoint === `${SOURCE}/${ENTRIES.theme}`),
    app: find(({ entryPoint }) => entryPoint === `${SOURCE}/${ENTRIES.app}`),
  }
}

/** The script of the page that shows one mail. */
export async function bundleFrame(): Promise<string> {
  const { outputFiles } = await build({
    ...SHARED,
    entryPoints: [`${SOURCE}/${FRAME_ENTRY}`],
    format: 'iife',
    write: false,
  })
  return (outputFiles[0]?.text ?? '').trim()
}

async function findFiles(outdir: string): Promise<Files> {
  const frame = [MAIN, ...IN_FRAME.map((name) => `${SOURCE}/${name}`)]
  const { metafile } = await build({ ...SPLIT, entryPoints: frame, outdir, write: false })
  const imports = Object.values(metafile.inputs).flatMap((one) => one.imports)
  const lazy = imports.filter(({ kind }) => kind === 'dynamic-import').map((one) => one.path)
  const parts = [...new Set(lazy)].sort()
  const screens = SCREENS.map(({ parts: own, files = SCREEN_FILES }): Loading => {
    return { parts: own.map((part) => `${SOURCE}/${part}`), limit: files - FIRST_FILES }
  })
  const shown = new Set(screens.flatMap((one) => one.parts))
  const others = parts.filter((part) => !shown.has(part))
  const onDemand = others.map((part): Loading => ({ parts: [part], limit: PART_FILES }))
  const loadings = [...screens, ...onDemand]
  return joinFiles({ modules: readModules(metafile), frame, parts, loadings })
}

function readModules({ inputs, outputs }: Metafile): Modules {
  const sizes = new Map<string, number>()
  for (const output of Object.values(outputs)) {
    for (const [name, { bytesInOutput }] of Object.entries(output.inputs)) {
      sizes.set(name, bytesInOutput)
    }
  }
  return new Map(
    Object.entries(inputs).map(([name, { imports }]) => {
      const before = imports.filter(({ kind }) => kind === 'import-statement')
      const isForeign = !name.startsWith(`${SOURCE}/`)
      return [
        name,
        { bytes: sizes.get(name) ?? 0, imports: before.map((one) => one.path), isForeign },
      ]
    }),
  )
}

/** The frame and each lazy part import all modules that they load, so each part imports the frame, which is there. */
function joinedFiles({ frame, parts }: Files): Plugin {
  return {
    name: 'joined-files',
    setup({ onResolve, onLoad }) {
      const root = process.cwd()
      const from = (name: string) => JSON.stringify(`./${name}`)
      const toModule = (lines: readonly string[], names: readonly string[]) => {
        const contents = [...lines, ...names.map((name) => `import ${from(name)}`)].join('\n')
        return { contents, resolveDir: root, loader: 'ts' } as const
      }
      onResolve({ filter: new RegExp(`^${FRAME}$`) }, () => ({ path: MAIN, namespace: FRAME }))
      onLoad({ filter: /.*/, namespace: FRAME }, () => toModule([`import ${from(MAIN)}`], frame))
      onResolve({ filter: /^\./ }, ({ kind, path: name, resolveDir }) => {
        if (kind !== 'dynamic-import' || !resolveDir.startsWith(path.join(root, SOURCE)))
          return null
        const file = path.relative(root, path.join(resolveDir, name)).replaceAll(path.sep, '/')
        return { path: file, namespace: LAZY }
      })
      onLoad({ filter: /.*/, namespace: LAZY }, ({ path: file }) => {
        const main = file.endsWith('.tsx') ? [`export { default } from ${from(file)}`] : []
        return toModule([`export * from ${from(file)}`, ...main], parts.get(file) ?? [])
      })
    },
  }
}

/** The outputs by their file names: the folder is flat. */
function flatten(outputs: Outputs): Outputs {
  return Object.fromEntries(
    Object.entries(outputs).map(([file, output]) => [
      path.basename(file),
      {
        ...output,
        imports: output.imports.map((one) => ({ ...one, path: path.basename(one.path) })),
      },
    ]),
  )
}
