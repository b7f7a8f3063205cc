/** The style of the guide, added to the style sheet of the hosted pages: wide text, tables, code. */
export const GUIDE_STYLE = `
main { max-width: 56rem; }
@media (min-height: 40rem) and (min-width: 30rem) { body { padding-top: 2rem; } }
h2 { margin: 2.25rem 0 .5rem; font-size: 1.3125rem; }
h3 { margin: 1.5rem 0 .5rem; font-size: 1.0625rem; }
ul, ol { margin: 0 0 1rem; padding-left: 1.5rem; }
table { display: block; overflow-x: auto; margin: 0 0 1.25rem; border-collapse: collapse; overflow-wrap: normal; }
th, td { padding: .4375rem 1rem .4375rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
code { padding: .1em .3em; border-radius: .25rem; background: var(--tint); font: .9em/1.4 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
pre { overflow-x: auto; margin: 0 0 1.25rem; padding: .875rem 1rem; border-radius: .625rem; background: var(--ground); }
pre code { padding: 0; background: none; overflow-wrap: normal; }
`
