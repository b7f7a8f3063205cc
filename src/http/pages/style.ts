/**
 * The style sheet of the hosted pages. It is part of each page, so that pages load nothing and the
 * policy can name it by its hash. Text has a contrast of at least 7:1 in both colour schemes,
 * buttons and links are 44 pixels high, and the pages fit into a width of 320 pixels.
 */
export const STYLE = `
:root {
  color-scheme: light dark;
  --ground: #f3f4f7;
  --card: #ffffff;
  --line: #dcdfe6;
  --text: #1b1f29;
  --muted: #4a5160;
  --accent: #2a46b8;
  --on-accent: #ffffff;
  --tint: #e8ecfb;
  --good: #0c5c3a;
  --good-tint: #e0f3e9;
  --bad: #8f1d1d;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #13151b;
    --card: #1c1f27;
    --line: #363b47;
    --text: #eef0f5;
    --muted: #b9bfcc;
    --accent: #a9baff;
    --on-accent: #10142a;
    --tint: #272d42;
    --good: #8fe0b5;
    --good-tint: #17352a;
    --bad: #ffb4b4;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body {
  margin: 0;
  min-height: 100vh;
  padding: 2rem 1rem 3rem;
  background: var(--ground);
  color: var(--text);
  font: 1.0625rem/1.6 system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif;
  overflow-wrap: anywhere;
}
header, main { max-width: 31rem; margin: 0 auto; }
header p { margin: 0 0 1rem; text-align: center; font-weight: 600; color: var(--muted); }
main {
  padding: 2.25rem 2rem 1.5rem;
  background: var(--card);
  border: 1px solid var(--line);
  border-radius: 1rem;
  box-shadow: 0 1px 2px rgb(0 0 0 / 4%), 0 12px 32px rgb(0 0 0 / 6%);
}
@media (min-height: 40rem) and (min-width: 30rem) {
  body { padding-top: 12vh; }
  main { padding: 2.75rem 2.5rem 1.75rem; }
}
@media (max-width: 24rem) { main { padding: 1.75rem 1.25rem 1rem; } }
.sign {
  display: grid;
  place-items: center;
  width: 3.5rem;
  height: 3.5rem;
  margin: 0 0 1.25rem;
  border-radius: 50%;
  background: var(--tint);
  color: var(--accent);
}
.sign.done { background: var(--good-tint); color: var(--good); }
.sign svg { width: 1.75rem; height: 1.75rem; }
h1 { margin: 0 0 .5rem; font-size: 1.625rem; line-height: 1.25; letter-spacing: -.01em; text-wrap: balance; }
h2 { margin: 0 0 .25rem; font-size: 1.0625rem; line-height: 1.4; }
p { margin: 0 0 1rem; }
strong { font-weight: 600; }
code { font-size: .9375rem; }
pre { margin: 0 0 1rem; padding: .875rem 1rem; border-radius: .625rem; background: var(--ground); white-space: pre-wrap; }
.muted { color: var(--muted); }
.note { padding: .875rem 1rem; border-radius: .625rem; background: var(--tint); }
.note[role=alert] { margin-bottom: 1.5rem; }
.choice { margin: 1.25rem 0 1rem; padding: 1.25rem; border: 1px solid var(--line); border-radius: .75rem; }
.choice form { margin: 1rem 0 0; }
.state { display: flex; align-items: center; gap: .5rem; margin: 0; color: var(--muted); }
.state::before { content: ''; flex: none; width: .625rem; height: .625rem; border: 2px solid; border-radius: 50%; }
.state.on { color: var(--good); }
.state.on::before { background: currentcolor; }
form { margin: 1.5rem 0 1.25rem; }
label { display: block; margin: 0 0 .375rem; font-weight: 600; }
input:not([type=hidden]) {
  width: 100%;
  min-height: 3rem;
  padding: .625rem .875rem;
  border: 1px solid var(--muted);
  margin: 0 0 1rem;
  border-radius: .625rem;
  background: var(--ground);
  color: var(--text);
  font: inherit;
}
input[aria-invalid=true] { border-color: var(--bad); }
.fault { font-weight: 600; color: var(--bad); }
input + p { margin-top: -.625rem; }
a.button {
  display: flex;
  align-items: center;
  justify-content: center;
  min-height: 3rem;
  padding: .625rem 1.25rem;
  border: 1px solid var(--accent);
  border-radius: .625rem;
  background: var(--accent);
  color: var(--on-accent);
  font-weight: 600;
  text-align: center;
  text-decoration: none;
}
a.button:hover { text-decoration: underline; text-underline-offset: .2em; }
button {
  width: 100%;
  min-height: 3rem;
  padding: .625rem 1.25rem;
  border: 1px solid var(--accent);
  border-radius: .625rem;
  background: var(--accent);
  color: var(--on-accent);
  font: inherit;
  font-weight: 600;
  cursor: pointer;
}
button:hover { text-decoration: underline; text-underline-offset: .2em; }
button.quiet { background: transparent; color: var(--accent); }
nav { margin: 1.25rem 0 0; border-top: 1px solid var(--line); }
nav ul { display: flex; flex-wrap: wrap; column-gap: 1.5rem; margin: .5rem 0 0; padding: 0; list-style: none; }
a { color: var(--accent); text-underline-offset: .2em; }
nav a { display: inline-flex; align-items: center; min-height: 2.75rem; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 3px; border-radius: .375rem; }
button:focus-visible { border-radius: .625rem; }
`
