import { build } from 'esbuild'; import { gzipSync } from 'node:zlib';
const r = await build({ stdin:{contents:"export { PaymentsClient } from './src/index.ts'", resolveDir:process.cwd()}, bundle:true, minify:true, write:false, metafile:true, format:'esm', platform:'node', external:['node:*'], splitting:false, target:'es2022' });
const o = Object.values(r.metafile.outputs)[0];
const rows = Object.entries(o.inputs).map(([k,v])=>[k,v.bytesInOutput]).filter(r=>r[1]>0).sort((a,b)=>b[1]-a[1]);
const g={}; for(const [k,b] of rows){const n=k.includes('node_modules')?k.split('node_modules/')[1].split('/')[0]:'ours'; g[n]=(g[n]??0)+b}
console.log(g, 'total', r.outputFiles[0].contents.length, 'gz', gzipSync(r.outputFiles[0].contents,{level:9}).length);
for(const r of rows.filter(r=>!r[0].includes('node_modules'))) console.log(r.join(' '));
for(const r of rows.filter(r=>r[0].includes('node_modules')).slice(0,25)) console.log(r.join(' '));
