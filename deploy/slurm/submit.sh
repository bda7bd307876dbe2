#!/bin/sh
# Submits the experiments of the paper, or the jobs of a batch, to Slurm: an array job of SHARDS tasks, and a merge that waits for all of them.
#
#   deploy/slurm/submit.sh SHARDS OUT [flags of conetune bench paper, such as --repeats 30 --data DIR]
#   deploy/slurm/submit.sh SHARDS OUT batch JOBS.csv [flags of conetune batch, such as --folds 5 --save]
#
# OUT is a folder that all nodes see; the whole is in OUT/all in the end. The same line again goes on where tasks were
# stopped. CONETUNE is the program (default: conetune in PATH), SBATCH_PARTITION, SBATCH_ACCOUNT, SBATCH_TIMELIMIT and so
# on are Slurm's own.
set -eu
if [ $# -lt 2 ]; then
    sed -n '2,10s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
shards=$1
case $shards in
'' | *[!0-9]* | 0*)
    echo "$0: SHARDS is '$shards', expected a positive number" >&2
    exit 2
    ;;
esac
mkdir -p "$2"
out=$(cd "$2" && pwd)
shift 2
work=bench
if [ "${1:-}" = batch ]; then
    work=batch
fi
here=$(cd "$(dirname "$0")" && pwd)
array=$(sbatch --parsable --array="1-$shards" --output="$out/shard-%a.log" "$here/shard.sbatch" "$shards" "$out" "$@")
array=${array%%;*} # "ID;CLUSTER" on federated clusters
merge=$(sbatch --parsable --dependency="afterok:$array" --kill-on-invalid-dep=yes --output="$out/merge.log" "$here/merge.sbatch" "$shards" "$out" "$work")
echo "array job $array, merge job ${merge%%;*}; logs and results in $out"
