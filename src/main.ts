/**
 * The entry of `pillarbox`. It checks the version of Node before it loads anything else, because an
 * old Node would fail on the syntax with a misleading message.
 */
// The name that `ps` and `top` show.
process.title = 'pillarbox'
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)

if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(
    `Pillarbox needs Node.js 22.19 or newer; this is ${process.versions.node}. "npm ci" installs the ` +
      'right one, which "npm start" and "npm run pillarbox -- COMMAND" use.\n',
  )
  process.exitCode = 1
} else {
  import('./cli/cli.ts')
    .then(({ runCli }) => runCli(process.argv.slice(2)))
    .then((status) => {
      process.exitCode = status
    })
}
